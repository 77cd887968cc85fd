package io.kinema.model.load;

import io.kinema.weights.EncodedMatrix;
import io.kinema.weights.FloatMatrix;
import io.kinema.weights.Int8Matrix;
import io.kinema.weights.StoredMatrix;
import io.kinema.weights.StoredTensor;
import io.kinema.weights.TensorSource;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Another source's tensors, and which mapped memory was handed out, so that its pages can be dropped when nobody reads them for a while:
 * the process then holds no more of a checkpoint than it works with. Owns nothing. Used by one thread.
 */
final class WatchedTensors extends TensorsOver {
    private final List<MemorySegment> mapped = new ArrayList<>();

    WatchedTensors(TensorSource base) {
        super(base);
    }

    /** Drops the pages of what was handed out from this process; the next reader finds them in the system's cache, or reads the file. */
    static void drop(List<MemorySegment> mapped) {
        mapped.forEach(MemorySegment::unload);
    }

    /** The mapped memory that was handed out so far. */
    List<MemorySegment> mapped() {
        return List.copyOf(mapped);
    }

    private StoredTensor seen(StoredTensor stored) {
        if (stored.data().isMapped() && stored.data().isReadOnly() && stored.data().byteSize() > 0) {
            mapped.add(stored.data());
        }
        return stored;
    }

    @Override
    public Optional<StoredTensor> find(String name) {
        return super.find(name).map(this::seen);
    }

    @Override
    public StoredTensor get(String name) {
        return seen(super.get(name));
    }

    @Override
    public StoredTensor rows(String name, long from, long to) {
        return seen(super.rows(name, from, to));
    }

    @Override
    public StoredMatrix matrix(String name, long from, long to) {
        return seen(super.matrix(name, from, to));
    }

    @Override
    public StoredMatrix matrix(String name) {
        return seen(super.matrix(name));
    }

    private StoredMatrix seen(StoredMatrix matrix) {
        switch (matrix) {
            case FloatMatrix floats -> seen(floats.tensor());
            case Int8Matrix int8 -> {
                seen(int8.values());
                seen(int8.scales());
            }
            case EncodedMatrix _ -> { }
        }
        return matrix;
    }
}

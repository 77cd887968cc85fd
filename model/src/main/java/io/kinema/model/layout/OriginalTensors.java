package io.kinema.model.layout;

import io.kinema.model.layout.KeyMap.Source;
import io.kinema.weights.BadWeightsException;
import io.kinema.weights.FloatMatrix;
import io.kinema.weights.Shape;
import io.kinema.weights.StoredMatrix;
import io.kinema.weights.StoredTensor;
import io.kinema.weights.TensorHeader;
import io.kinema.weights.TensorSource;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SequencedSet;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Owns a checkpoint in a layout of other names, and the memory of the tensors whose rows had to be put in order, until it is
 * closed; presents it under the names and in the row order of the diffusers layout. Closing twice is harmless; a tensor used
 * after close throws {@link IllegalStateException}. Safe for use by several threads.
 *
 * <p>Opening reads names and shapes only. Most tensors are views of the checkpoint's own memory map. Where the rows of q, k and v
 * lie between each other they are gathered when one of them is first asked for, and then kept; stacked ones are views. A gated
 * feed-forward's matrix is swapped only for a reader that wants both halves as one tensor: {@link #rows} and {@link #matrix} of
 * either half are views.
 */
public final class OriginalTensors implements TensorSource {
    private static final long ALIGNMENT = 64;

    private final TensorSource stored;
    private final KeyMap keys;
    private final Arena arena = Arena.ofShared();
    private final Map<String, StoredTensor> gathered = new ConcurrentHashMap<>();
    private boolean closed;

    /**
     * @param stored the checkpoint with its own names, checked against {@code keys}; closed with this view
     * @param keys   where the tensors lie
     */
    OriginalTensors(TensorSource stored, KeyMap keys) {
        this.stored = stored;
        this.keys = keys;
    }

    /** Bytes held for tensors whose rows were put in order so far. */
    public long gatheredBytes() {
        return gathered.values().stream().mapToLong(t -> t.data().byteSize()).sum();
    }

    @Override
    public SequencedSet<String> names() {
        SequencedSet<String> present = new LinkedHashSet<>();
        keys.sources().forEach((name, source) -> {
            if (stored.header(source.name()).isPresent()) {
                present.add(name);
            }
        });
        return Collections.unmodifiableSequencedSet(present);
    }

    @Override
    public Optional<StoredTensor> find(String name) {
        Source source = keys.sources().get(name);
        return source == null ? Optional.empty() : stored.find(source.name()).map(t -> read(name, source, t));
    }

    @Override
    public StoredTensor get(String name) {
        return find(name).orElseThrow(() -> missing(name));
    }

    @Override
    public Shape shape(String name) {
        return source(name).shape();
    }

    @Override
    public Optional<TensorHeader> header(String name) {
        Source source = keys.sources().get(name);
        return source == null ? Optional.empty() : stored.header(source.name()).map(h -> h.as(name, source.shape()));
    }

    @Override
    public StoredTensor rows(String name, long from, long to) {
        Source source = source(name);
        OptionalLong offset = offset(source, from, to);
        return offset.isEmpty() ? gatheredRows(name, source, from, to) : renamed(stored.rows(source.name(), from + offset.getAsLong(), to + offset.getAsLong()), name);
    }

    @Override
    public long runEnd(String name, long from, long to) {
        return source(name).order().runEnd(from, to, source(name).shape().dim(0));
    }

    /** Coded matrices are views too; one whose rows would have to be gathered is refused. */
    @Override
    public StoredMatrix matrix(String name, long from, long to) {
        Source source = source(name);
        OptionalLong offset = offset(source, from, to);
        if (offset.isPresent()) {
            return stored.matrix(source.name(), from + offset.getAsLong(), to + offset.getAsLong());
        }
        if (stored.header(source.name()).flatMap(TensorHeader::dtype).isEmpty()) {
            throw new BadWeightsException(origin() + ": tensor " + source.name() + " is coded (" + stored.header(source.name()).orElseThrow().encoding()
                    + ") and its rows lie in another order than " + name + " needs, expected plain floats in the original layout; convert it from a plain checkpoint");
        }
        return new FloatMatrix(get(name).rows(from, to));
    }

    /** Rows in their order, in memory that nothing keeps: for a reader that streams. */
    private StoredTensor gatheredRows(String name, Source source, long from, long to) {
        StoredTensor tensor = stored.get(source.name());
        long[] dims = source.shape().toArray();
        dims[0] = to - from;
        long rowBytes = tensor.data().byteSize() / tensor.shape().dim(0);
        MemorySegment out = Arena.ofAuto().allocate(Math.max(1, dims[0] * rowBytes), ALIGNMENT).asSlice(0, dims[0] * rowBytes);
        for (long row = from; row < to; row++) {
            long at = row + source.order().offset(row, row + 1, source.shape().dim(0)).orElseThrow();
            MemorySegment.copy(tensor.data(), at * rowBytes, out, (row - from) * rowBytes, rowBytes);
        }
        return new StoredTensor(name, tensor.dtype(), Shape.of(dims), out.asReadOnly(), tensor.file());
    }

    @Override
    public String origin() {
        return stored.origin();
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            stored.close();
            arena.close();
        }
    }

    private OptionalLong offset(Source source, long from, long to) {
        long rows = source.shape().dim(0);
        Objects.checkFromToIndex(from, to, rows);
        return source.order().offset(from, to, rows);
    }

    private Source source(String name) {
        return Optional.ofNullable(keys.sources().get(name)).filter(s -> stored.header(s.name()).isPresent()).orElseThrow(() -> missing(name));
    }

    private BadWeightsException missing(String name) {
        return new BadWeightsException(origin() + ": no tensor " + name
                + ", neither under that name nor under the original layout's; the weights and the config do not belong together");
    }

    private StoredTensor read(String name, Source source, StoredTensor tensor) {
        long rows = source.shape().rank() == 0 ? 0 : source.shape().dim(0);
        OptionalLong offset = source.order().offset(0, rows, rows);
        if (source.order() instanceof RowOrder.Same) {
            return renamed(tensor, name);
        }
        return offset.isPresent() ? renamed(tensor.rows(offset.getAsLong(), offset.getAsLong() + rows), name)
                : gathered.computeIfAbsent(name, n -> gather(n, source, tensor));
    }

    private StoredTensor gather(String name, Source source, StoredTensor tensor) {
        long bytes = source.shape().elements() * tensor.dtype().bytes();
        MemorySegment out = arena.allocate(bytes, ALIGNMENT);
        source.order().gather(tensor.data(), out);
        return new StoredTensor(name, tensor.dtype(), source.shape(), out.asReadOnly(), tensor.file());
    }

    private static StoredTensor renamed(StoredTensor tensor, String name) {
        return new StoredTensor(name, tensor.dtype(), tensor.shape(), tensor.data(), tensor.file());
    }
}

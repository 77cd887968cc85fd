package io.kinema.model.load;

import io.kinema.weights.Shape;
import io.kinema.weights.StoredMatrix;
import io.kinema.weights.StoredTensor;
import io.kinema.weights.TensorHeader;
import io.kinema.weights.TensorSource;
import java.util.Optional;
import java.util.SequencedSet;

/** Another source's tensors, all as they are. Owns nothing: closing it does nothing, and the other source must outlive it. */
abstract class TensorsOver implements TensorSource {
    private final TensorSource stored;

    TensorsOver(TensorSource stored) {
        this.stored = stored;
    }

    @Override
    public SequencedSet<String> names() {
        return stored.names();
    }

    @Override
    public Optional<StoredTensor> find(String name) {
        return stored.find(name);
    }

    @Override
    public StoredTensor get(String name) {
        return stored.get(name);
    }

    @Override
    public Optional<TensorHeader> header(String name) {
        return stored.header(name);
    }

    @Override
    public Shape shape(String name) {
        return stored.shape(name);
    }

    @Override
    public StoredTensor rows(String name, long from, long to) {
        return stored.rows(name, from, to);
    }

    @Override
    public StoredMatrix matrix(String name) {
        return stored.matrix(name);
    }

    @Override
    public StoredMatrix matrix(String name, long from, long to) {
        return stored.matrix(name, from, to);
    }

    @Override
    public long runEnd(String name, long from, long to) {
        return stored.runEnd(name, from, to);
    }

    @Override
    public String origin() {
        return stored.origin();
    }

    @Override
    public void close() {
        // The other source is its owner's.
    }
}

package io.kinema.model;

import io.kinema.weights.Shape;
import io.kinema.weights.StoredTensor;
import io.kinema.weights.TensorSource;
import java.util.Collections;
import java.util.Optional;
import java.util.SequencedSet;
import java.util.SortedSet;
import java.util.TreeSet;

/** Owns a source until it is closed and notes every tensor that is asked for; sizes alone do not count. */
public final class RecordingTensors implements TensorSource {
    private final TensorSource source;
    private final SortedSet<String> read = new TreeSet<>();

    public RecordingTensors(TensorSource source) {
        this.source = source;
    }

    /** The names asked for so far. */
    public SortedSet<String> read() {
        return Collections.unmodifiableSortedSet(read);
    }

    /** Starts anew. */
    public void forget() {
        read.clear();
    }

    @Override
    public SequencedSet<String> names() {
        return source.names();
    }

    @Override
    public Optional<StoredTensor> find(String name) {
        read.add(name);
        return source.find(name);
    }

    @Override
    public StoredTensor get(String name) {
        read.add(name);
        return source.get(name);
    }

    @Override
    public Shape shape(String name) {
        return source.shape(name);
    }

    @Override
    public StoredTensor rows(String name, long from, long to) {
        read.add(name);
        return source.rows(name, from, to);
    }

    @Override
    public String origin() {
        return source.origin();
    }

    @Override
    public void close() {
        source.close();
    }
}

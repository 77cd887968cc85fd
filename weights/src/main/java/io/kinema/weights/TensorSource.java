package io.kinema.weights;

import java.util.Optional;
import java.util.SequencedSet;

/**
 * Owns named, read-only tensors (a file, a folder of shards, or tensors made in memory) until it is closed.
 * Closing twice is harmless; using a tensor after close throws {@link IllegalStateException}.
 * Safe for use by several threads.
 */
public interface TensorSource extends AutoCloseable {
    /** All names, in file order. */
    SequencedSet<String> names();

    /** The tensor called {@code name}, or empty. */
    Optional<StoredTensor> find(String name);

    /** The tensor called {@code name}. @throws BadWeightsException when there is none, naming the source and the closest names */
    StoredTensor get(String name);

    /** Sizes of the tensor called {@code name}, without touching its data. @throws BadWeightsException as {@link #get} does */
    default Shape shape(String name) {
        return get(name).shape();
    }

    /**
     * Rows {@code [from, to)} of the tensor called {@code name}, along its first axis: what a reader asks for that needs a
     * part of a stacked matrix, so that a source which stores the parts in another order need not put the whole together.
     *
     * @throws BadWeightsException       when there is no such tensor
     * @throws IndexOutOfBoundsException when it is a scalar or has fewer rows
     */
    default StoredTensor rows(String name, long from, long to) {
        return get(name).rows(from, to);
    }

    /** Where it came from, for messages: a path or a short description. */
    String origin();

    @Override
    void close();
}

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

    /** Where it came from, for messages: a path or a short description. */
    String origin();

    @Override
    void close();
}

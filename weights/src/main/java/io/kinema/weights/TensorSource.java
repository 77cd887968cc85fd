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

    /** What the file says about the tensor called {@code name}, without touching its data; empty when there is none. */
    default Optional<TensorHeader> header(String name) {
        return find(name).map(TensorHeader::of);
    }

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

    /**
     * The matrix called {@code name} with what belongs to it (the scales of integers, say), in the encoding it is stored in. A
     * source whose encodings are its own overrides {@link #matrix(String, long, long)}.
     *
     * @throws BadWeightsException when it is absent, no matrix, of a dtype that is no matrix's, or a companion is missing or wrong
     */
    default StoredMatrix matrix(String name) {
        return matrix(name, 0, shape(name).dim(0));
    }

    /**
     * Rows {@code [from, to)} of {@link #matrix(String)}.
     *
     * @throws IndexOutOfBoundsException when it has fewer rows
     */
    default StoredMatrix matrix(String name, long from, long to) {
        return MatrixCompanions.rows(this, name, from, to);
    }

    /**
     * Where the first run of rows ends that lie in order in the file: rows {@code [from, end)} of {@link #rows} and {@link #matrix}
     * are a view, however the source puts rows in order.
     *
     * @return more than {@code from} where {@code to} is, and at most {@code to}
     */
    default long runEnd(String name, long from, long to) {
        return to;
    }

    /** Where it came from, for messages: a path or a short description. */
    String origin();

    @Override
    void close();
}

package io.kinema.weights;

import java.nio.file.Path;
import java.util.OptionalInt;

/**
 * A matrix [rows, columns] as it lies in a file, in one of the encodings that checkpoints use; rows are output features.
 * A view: its memory belongs to the {@link TensorSource} it came from and dies when that is closed. Read with
 * {@link TensorSource#matrix(String)}.
 */
public sealed interface StoredMatrix permits FloatMatrix, Int8Matrix, EncodedMatrix {
    /** Name in the file, for messages. */
    String name();

    /** The file it came from, for messages. */
    Path file();

    long rows();

    long columns();

    /** Rows {@code [from, to)} as a view. @throws IndexOutOfBoundsException when it has fewer rows */
    StoredMatrix rows(long from, long to);

    /** Bytes it takes in the file, scales included. */
    long bytes();

    /**
     * Width of the groups of columns that were rotated by a regular Hadamard matrix before they were stored (a power of 4 that
     * divides {@link #columns()}); empty when the columns are as they were trained.
     */
    OptionalInt rotation();

    /** How it is stored, in a few words for a person: {@code BF16}, {@code INT8 rotated by 256}. */
    String encoding();
}

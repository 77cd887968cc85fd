package io.kinema.compute;

import java.util.Optional;
import java.util.OptionalInt;

/**
 * A rotation of the input axis: consecutive groups of {@code group} values are multiplied by the regular Hadamard matrix
 * R = H4 (x) H4 (x) ... / sqrt(group) with H4 = [[1,1,1,-1],[1,1,-1,1],[1,-1,1,1],[-1,1,1,1]]. R is symmetric and
 * orthogonal, its entries are +-1/sqrt(group) and every row sums to 1, so the same routine rotates weights
 * ({@code W R}) and rows ({@code x R}) and undoes itself: {@code (x R)(W R)^T = x W^T}.
 *
 * @param group a power of 4, at least 4
 */
public record Rotation(int group) {
    public Rotation {
        if (group < 4 || Integer.bitCount(group) != 1 || Integer.numberOfTrailingZeros(group) % 2 != 0) {
            throw new IllegalArgumentException("rotation: got groups of " + group + ", expected a power of 4");
        }
    }

    /** The rotation of a stored matrix's columns. */
    public static Optional<Rotation> of(OptionalInt group) {
        return group.isPresent() ? Optional.of(new Rotation(group.getAsInt())) : Optional.empty();
    }

    /** How many factors H4 it has. */
    public int stages() {
        return Integer.numberOfTrailingZeros(group) / 2;
    }

    /** The factor {@code 1 / sqrt(group)}, a power of two. */
    public float factor() {
        return 1f / (1 << stages());
    }

    /** Entry (row, column) of R: negative where the base-4 digits of the two add up to 3 an odd number of times. */
    public float entry(int row, int column) {
        int sum = row ^ column;
        int thirds = sum & sum >>> 1 & 0x55555555;
        return (Integer.bitCount(thirds) & 1) == 0 ? factor() : -factor();
    }
}

package io.kinema.compute;

import java.util.Optional;

/**
 * A matrix that linear layers multiply by, in one of the storage kinds a kernel can read. Logically always
 * [outFeatures, inFeatures] as checkpoints store it. Dispatch asks for the kind, never for a name.
 */
public sealed interface Weight permits DenseWeight, Int8Weight, EncodedWeight {
    int outFeatures();

    int inFeatures();

    /**
     * The rotation of its input axis, or empty. Only rows in the same coordinates may meet it ({@link LinearOps#rotate}); a
     * product of rows in others is refused, because it would have the right shape and be noise.
     */
    Optional<Rotation> rotation();

    /** The part that makes outputs [from, to), as a view. @throws IndexOutOfBoundsException when there are fewer */
    Weight rows(int from, int to);

    /**
     * The part that reads inputs [from, to), as a view: products of the parts of a row and the parts of a weight add up to the
     * product of the whole.
     *
     * @throws IndexOutOfBoundsException when there are fewer
     * @throws IllegalArgumentException  when the bounds cut a rotated group
     */
    Weight columns(int from, int to);

    /** @throws IllegalArgumentException when a bound lies inside a rotated group */
    static void requireGroupBounds(int from, int to, Optional<Rotation> rotation) {
        if (rotation.isPresent() && (from % rotation.get().group() != 0 || to % rotation.get().group() != 0)) {
            throw new IllegalArgumentException("columns: got [" + from + ", " + to + "), expected bounds that are multiples of the rotation's group "
                    + rotation.get().group());
        }
    }

    /** @throws IllegalArgumentException when {@code columns} are no whole number of groups */
    static void requireWholeGroups(int columns, Optional<Rotation> rotation) {
        if (rotation.isPresent() && columns % rotation.get().group() != 0) {
            throw new IllegalArgumentException("rotation: got " + columns + " columns, expected a multiple of its group " + rotation.get().group());
        }
    }
}

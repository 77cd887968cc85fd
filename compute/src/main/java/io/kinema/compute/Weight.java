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

    /** @throws IllegalArgumentException when {@code columns} are no whole number of groups */
    static void requireWholeGroups(int columns, Optional<Rotation> rotation) {
        if (rotation.isPresent() && columns % rotation.get().group() != 0) {
            throw new IllegalArgumentException("rotation: got " + columns + " columns, expected a multiple of its group " + rotation.get().group());
        }
    }
}

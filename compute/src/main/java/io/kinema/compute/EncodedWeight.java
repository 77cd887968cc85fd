package io.kinema.compute;

import io.kinema.weights.EncodedMatrix;
import java.util.Optional;

/**
 * A matrix that stays encoded in host memory. A product decodes some rows at a time to FP32, rounds them once when its operand
 * is F16 or BF16, uses them and forgets them.
 *
 * @param matrix   decodes its rows; [outFeatures, inFeatures]
 * @param rotation of the input axis, see {@link Weight#rotation()}
 */
public record EncodedWeight(EncodedMatrix matrix, Optional<Rotation> rotation) implements Weight {
    public EncodedWeight {
        Weight.requireWholeGroups(Math.toIntExact(matrix.columns()), rotation);
    }

    @Override
    public EncodedWeight rows(int from, int to) {
        return new EncodedWeight(matrix.rows(from, to), rotation);
    }

    /** Decodes whole rows and keeps a part of each, since an encoding may not be cut there. */
    @Override
    public EncodedWeight columns(int from, int to) {
        Weight.requireGroupBounds(from, to, rotation);
        return new EncodedWeight(new EncodedColumns(matrix, from, to), rotation);
    }

    @Override
    public int outFeatures() {
        return Math.toIntExact(matrix.rows());
    }

    @Override
    public int inFeatures() {
        return Math.toIntExact(matrix.columns());
    }
}

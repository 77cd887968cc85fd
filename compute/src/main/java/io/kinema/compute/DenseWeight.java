package io.kinema.compute;

import java.util.Optional;

/**
 * A float matrix of dtype F32, BF16 or F16.
 *
 * @param values   logically [outFeatures, inFeatures]; row-major storage has strides (K, 1), column-major (1, N)
 * @param rotation of the input axis, see {@link Weight#rotation()}
 */
public record DenseWeight(Tensor values, Optional<Rotation> rotation) implements Weight {
    public DenseWeight {
        boolean kind = switch (values.dtype()) {
            case F32, BF16, F16 -> true;
            default -> false;
        };
        if (values.rank() != 2 || !kind) {
            throw new IllegalArgumentException("dense weight: got " + values + ", expected a matrix of F32, BF16 or F16");
        }
        Weight.requireWholeGroups(values.size(1), rotation);
    }

    /** A matrix whose input axis is as it was trained. */
    public DenseWeight(Tensor values) {
        this(values, Optional.empty());
    }

    @Override
    public DenseWeight rows(int from, int to) {
        return new DenseWeight(values.rows(from, to), rotation);
    }

    @Override
    public DenseWeight columns(int from, int to) {
        Weight.requireGroupBounds(from, to, rotation);
        return new DenseWeight(values.slice(1, from, to), rotation);
    }

    @Override
    public int outFeatures() {
        return values.size(0);
    }

    @Override
    public int inFeatures() {
        return values.size(1);
    }
}

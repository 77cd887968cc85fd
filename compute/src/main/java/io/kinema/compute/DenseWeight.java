package io.kinema.compute;

/**
 * A float matrix of dtype F32, BF16 or F16.
 *
 * @param values logically [outFeatures, inFeatures]; row-major storage has strides (K, 1), column-major (1, N)
 */
public record DenseWeight(Tensor values) implements Weight {
    public DenseWeight {
        boolean kind = switch (values.dtype()) {
            case F32, BF16, F16 -> true;
            default -> false;
        };
        if (values.rank() != 2 || !kind) {
            throw new IllegalArgumentException("dense weight: got " + values + ", expected a matrix of F32, BF16 or F16");
        }
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

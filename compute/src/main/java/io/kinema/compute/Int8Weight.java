package io.kinema.compute;

import io.kinema.weights.DType;
import java.util.Optional;

/**
 * A matrix of 8-bit integers with one FP32 scale for each row. A product decodes some rows at a time to its operand's dtype,
 * uses them and forgets them: {@code w[n, k] = round(values[n, k] * scales[n])}, the product rounded to FP32 first and then
 * once to F16 or BF16 when the operand is that.
 *
 * @param values   I8 [outFeatures, inFeatures], row-major, rows may be strided
 * @param scales   FP32 [outFeatures], finite and above 0
 * @param rotation of the input axis, see {@link Weight#rotation()}
 */
public record Int8Weight(Tensor values, Tensor scales, Optional<Rotation> rotation) implements Weight {
    public Int8Weight {
        if (values.rank() != 2 || values.dtype() != DType.I8) {
            throw new IllegalArgumentException("int8 weight: got " + values + ", expected a matrix of I8");
        }
        if (scales.rank() != 1 || scales.dtype() != DType.F32 || scales.size(0) != values.size(0)) {
            throw new IllegalArgumentException("int8 weight scales: got " + scales + ", expected F32[" + values.size(0) + "]");
        }
        Weight.requireWholeGroups(values.size(1), rotation);
    }

    @Override
    public Int8Weight rows(int from, int to) {
        return new Int8Weight(values.rows(from, to), scales.rows(from, to), rotation);
    }

    @Override
    public Int8Weight columns(int from, int to) {
        Weight.requireGroupBounds(from, to, rotation);
        return new Int8Weight(values.slice(1, from, to), scales, rotation);
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

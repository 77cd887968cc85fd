package io.kinema.compute;

import java.util.Optional;

/**
 * Rows ready to enter a matrix product: {@code value = values * rowScale}, in the coordinates that {@code rotation} says.
 *
 * @param values   [M, K], dtype F32, F16 or BF16, last axis contiguous
 * @param rowScale FP32 [M] of powers of two, present only where FP16 rounding needed it ({@link LinearOps#prepare});
 *                 the product of a row is multiplied by its scale in FP32 after accumulation
 * @param rotation what was done to the rows by {@link LinearOps#rotate}; only a weight with the same rotation may meet them
 */
public record Operand(Tensor values, Optional<Tensor> rowScale, Optional<Rotation> rotation) {
    /** Rows that are not rotated. */
    public Operand(Tensor values, Optional<Tensor> rowScale) {
        this(values, rowScale, Optional.empty());
    }

    /** Rows without scales that are not rotated. */
    public static Operand of(Tensor values) {
        return new Operand(values, Optional.empty());
    }
}

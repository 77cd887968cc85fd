package io.kinema.compute;

import java.util.Optional;

/**
 * Rows ready to enter a matrix product: {@code value = values * rowScale}.
 *
 * @param values   [M, K], dtype F32, F16 or BF16, last axis contiguous
 * @param rowScale FP32 [M] of powers of two, present only where FP16 rounding needed it ({@link LinearOps#prepare});
 *                 the product of a row is multiplied by its scale in FP32 after accumulation
 */
public record Operand(Tensor values, Optional<Tensor> rowScale) {
    /** Rows without scales. */
    public static Operand of(Tensor values) {
        return new Operand(values, Optional.empty());
    }
}

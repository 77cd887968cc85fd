package io.kinema.compute;

import io.kinema.weights.DType;
import java.util.Optional;

/** Matrix products with weights. */
public interface LinearOps {
    /**
     * {@code out[m, n] = rowScale[m] * sum_k x[m, k] * w[n, k] + bias[n]}.
     *
     * <p>Products of the operands' values are exact or rounded to FP32, accumulated in FP32 (the order inside one dot
     * product is the backend's own), then multiplied by the row scale (one FP32 rounding), then the bias is added (one FP32
     * rounding), then stored (one rounding when {@code out} is F16 or BF16).
     *
     * @param x    [M, K]
     * @param w    [N, K]
     * @param bias FP32, BF16 or F16 [N], or empty
     * @param out  [M, N], F32, F16 or BF16, last axis contiguous; rows may be strided
     */
    void linear(Operand x, Weight w, Optional<Tensor> bias, Tensor out);

    /** {@link #linear(Operand, Weight, Optional, Tensor)} without bias. */
    default void linear(Operand x, Weight w, Tensor out) {
        linear(x, w, Optional.empty(), out);
    }

    /**
     * Rounds FP32 rows to a matrix operand. For F32 the rows themselves, for BF16 rows rounded to BF16, for F16 the rule of
     * the SM70 path: m = max |x| of the row, m = f * 2^e with f in [0.5, 1), s = 2^max(e - 11, 0), values = F16(x / s).
     * The margin below 65504 lets a 256-wide rotation grow a row by 16. Rows of s = 1 only still carry a scale tensor.
     *
     * @param x      FP32 [M, K], or already of dtype {@code target} (returned as it is)
     * @param target F32, F16 or BF16
     * @param ws     owner of the result
     */
    Operand prepare(Tensor x, DType target, Workspace ws);
}

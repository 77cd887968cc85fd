package io.kinema.compute;

import io.kinema.weights.DType;
import java.util.Optional;

/** Matrix products with weights, and what prepares rows for them. */
public interface LinearOps {
    /**
     * {@code out[m, n] = rowScale[m] * sum_k x[m, k] * w[n, k] + bias[n] + sum_i factor_i * delta_i[m, n]}.
     *
     * <p>A weight that is not dense is decoded to x's dtype, as its kind says ({@link Int8Weight}, {@link EncodedWeight}), a
     * bounded number of rows at a time. Products of the operands' values are exact or rounded to FP32, accumulated in FP32 (the
     * order inside one dot product is the backend's own), then multiplied by the row scale (one FP32 rounding), then the bias is
     * added (one FP32 rounding), then the deltas (one FMA each, in order), then stored (one rounding when {@code out} is F16 or
     * BF16).
     *
     * @param x   [M, K], in the coordinates of the weight: equal rotations
     * @param w   [N, K]
     * @param out [M, N], F32, F16 or BF16, last axis contiguous; rows may be strided, so a slice of a wider output is written
     *            and its neighbours are not touched; apart from every input
     */
    void linear(Operand x, Weight w, LinearEpilogue epilogue, Tensor out);

    /** {@link #linear(Operand, Weight, LinearEpilogue, Tensor)} with a bias or nothing. */
    default void linear(Operand x, Weight w, Optional<Tensor> bias, Tensor out) {
        linear(x, w, LinearEpilogue.of(bias), out);
    }

    /** {@link #linear(Operand, Weight, LinearEpilogue, Tensor)} with nothing after the product. */
    default void linear(Operand x, Weight w, Tensor out) {
        linear(x, w, LinearEpilogue.NONE, out);
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

    /**
     * Rows in the coordinates of a rotated weight: every group of {@code rotation.group()} values times R, see
     * {@link Rotation}. Sums in FP32 (the order is the backend's own), times the exact factor 1/sqrt(group), then one rounding
     * to the dtype of x. Row scales stay as they are, since R is linear. Rows that {@link #prepare} made stay within FP16 for
     * groups up to 256; F16 rows from elsewhere may become infinite above 65504 / sqrt(group).
     *
     * @param x  [M, K] not rotated, K a multiple of the group
     * @param ws owner of the result
     * @return of x's dtype, with x's row scales
     */
    Operand rotate(Operand x, Rotation rotation, Workspace ws);
}

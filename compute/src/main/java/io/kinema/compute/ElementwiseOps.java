package io.kinema.compute;

import java.util.Optional;

/** Element-wise operations, fused where a kernel engineer would fuse them. Inputs may be strided along rows. */
public interface ElementwiseOps {
    /** {@code out = silu(gate) * up}, silu(x) = x / (1 + exp(-x)). All [M, F]; any of F32, F16, BF16; {@code out} may be an input. */
    void swiglu(Tensor gate, Tensor up, Tensor out);

    /** {@code out = gelu(gate) * up} with the tanh form of gelu. */
    void geglu(Tensor gate, Tensor up, Tensor out);

    /** {@code out = x / (1 + exp(-x))}. */
    void silu(Tensor x, Tensor out);

    /** {@code out = 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))}. */
    void geluTanh(Tensor x, Tensor out);

    /** {@code out = 0.5 x (1 + erf(x / sqrt 2))}. */
    void geluErf(Tensor x, Tensor out);

    /** {@code out = a + b}; may be in place. */
    void add(Tensor a, Tensor b, Tensor out);

    /** {@code out = x * factor}; may be in place. */
    void scale(Tensor x, float factor, Tensor out);

    /**
     * {@code out = fma(factor, x, out)}: one rounding. How a low-rank adapter's FP32 delta joins the FP32 product of its base,
     * before that is stored in a narrower type and before any reduction over ranks.
     *
     * @param x   FP32 [M, D], rows may be strided
     * @param out FP32 [M, D], updated in place, rows may be strided (a slice of a fused product)
     */
    void addScaled(Tensor x, float factor, Tensor out);

    /**
     * {@code residual[m] += gate[row(m)] * x[m]}, product and sum rounded separately; without a gate {@code residual += x}.
     *
     * @param residual FP32 [M, D], updated in place
     * @param x        [M, D], F32, F16 or BF16
     */
    void gatedResidualAdd(Tensor residual, Tensor x, Optional<RowGate> gate);

    /**
     * {@code out = x + invBeta[c] * sin(alpha[c] * x)^2} (Snake and SnakeBeta; the caller folds exp and 1e-9 into the tables).
     *
     * @param x       FP32 [B, C, L]
     * @param alpha   FP32 [C]
     * @param invBeta FP32 [C]
     * @param out     same shape; may be {@code x}
     */
    void snake(Tensor x, Tensor alpha, Tensor invBeta, Tensor out);

    /** {@code out[c, ...] = x[c, ...] * scale[c] + shift[c]} over the first axis; product and sum rounded separately; may be in place. */
    void channelAffine(Tensor x, Tensor scale, Tensor shift, Tensor out);

    /** {@code out = min(max(x, low), high)}; NaN stays NaN; may be in place. */
    void clamp(Tensor x, float low, float high, Tensor out);

    /**
     * Per-row factors.
     *
     * @param table    FP32 [R, D], rows may be strided
     * @param rowIndex I32 [M] with values in [0, R), or empty when R = 1 serves all rows
     */
    record RowGate(Tensor table, Optional<Tensor> rowIndex) {
    }
}

package io.kinema.compute;

import java.util.Optional;

/** Normalisation, alone or fused with what follows it. Statistics are FP32; last axes are contiguous. */
public interface NormOps {
    /**
     * {@code out = x * rsqrt(mean(x^2) + eps) * weight} over the last axis.
     *
     * @param x      [..., D], F32, F16 or BF16
     * @param weight [D], any float dtype, or empty for 1
     * @param out    same shape, F32, F16 or BF16; may be {@code x}
     */
    void rmsNorm(Tensor x, Optional<Tensor> weight, float eps, Tensor out);

    /**
     * {@code out[m] = rmsNorm(x[m]) * (1 + scale[row(m)]) + shift[row(m)]}; product and sum are rounded separately.
     *
     * @param x   FP32 [M, D]
     * @param out [M, D], F32, F16 or BF16
     */
    void rmsNormModulate(Tensor x, Tensor weight, float eps, RowModulation modulation, Tensor out);

    /** {@code out = (x - mean) * rsqrt(var + eps) * weight + bias} over the last axis; population variance. */
    void layerNorm(Tensor x, Optional<Tensor> weight, Optional<Tensor> bias, float eps, Tensor out);

    /**
     * Group norm with statistics per group and frame, then optionally SiLU.
     *
     * @param x      FP32 [C, T, H, W]; C divisible by {@code groups}
     * @param weight [C]
     * @param bias   [C]
     * @param silu   apply x * sigmoid(x) to the result
     * @param out    FP32, same shape; may be {@code x}
     */
    void groupNormPerFrame(Tensor x, int groups, Tensor weight, Tensor bias, float eps, boolean silu, Tensor out);

    /**
     * Per head: optional RMS norm over D, then optional rotary embedding of the first R channels in the rotate-half
     * convention: {@code out[i] = x[i] * cos[i] + r[i] * sin[i]}, r = (-x[R/2..R), x[0..R/2)); products and sum rounded separately.
     *
     * @param x      [M, heads, D], F32, F16 or BF16; rows and heads may be strided
     * @param norm   empty for no norm
     * @param rotary empty for no rotation
     * @param out    same shape, F32, F16 or BF16; may be {@code x}
     */
    void headNormRotary(Tensor x, Optional<HeadNorm> norm, Optional<Rotary> rotary, Tensor out);

    /**
     * Shift and scale tables addressed per row.
     *
     * @param shift    FP32 [R, D], rows may be strided
     * @param scale    FP32 [R, D], rows may be strided
     * @param rowIndex I32 [M], values in [0, R)
     */
    record RowModulation(Tensor shift, Tensor scale, Tensor rowIndex) {
    }

    /**
     * @param weight [D], any float dtype, or empty for 1
     * @param eps    added to the mean square
     */
    record HeadNorm(Optional<Tensor> weight, float eps) {
    }

    /**
     * @param cos [M, R], F32 or F16; R even, R <= D
     * @param sin [M, R], F32 or F16
     */
    record Rotary(Tensor cos, Tensor sin) {
    }
}

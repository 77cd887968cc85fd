package io.kinema.compute;

import java.util.Optional;

/** Convolutions and resampling filters, channels first, FP32 in and out. */
public interface ConvolutionOps {
    /**
     * {@code out[b, o, l] = bias[o] + sum_{i, j} x[b, i, l * stride + j * dilation - padLeft] * w[o, i, j]}, zeros outside.
     *
     * @param x   [B, I, L]
     * @param out [B, O, (L + padLeft + padRight - dilation * (k - 1) - 1) / stride + 1]
     */
    void conv1d(Tensor x, Conv1d conv, Tensor out);

    /**
     * Transposed convolution with {@code w} [I, O, k]: {@code full[b, o, l * stride + j] += x[b, i, l] * w[i, o, j]}, then
     * {@code padding} samples are cut from each end and the bias is added.
     *
     * @param x   [B, I, L]
     * @param out [B, O, (L - 1) * stride - 2 * padding + k]
     */
    void convTranspose1d(Tensor x, Tensor w, Optional<Tensor> bias, int stride, int padding, Tensor out);

    /**
     * Cross-correlation over (T, H, W) with zero frames in front and spatial padding.
     *
     * @param x   [I, T, H, W]
     * @param out [O, T', H', W'] with T' = (T + frontFrames - kt) / strideT + 1 and so on
     */
    void conv3d(Tensor x, Conv3d conv, Tensor out);

    /**
     * Anti-aliased SnakeBeta of BigVGAN: upsample by {@code ratio} with {@code upFilter} (replicate padding, transposed
     * depthwise convolution, times ratio, cut to L * ratio), {@link ElementwiseOps#snake}, low-pass with
     * {@code downFilter} (replicate padding) keeping every {@code ratio}-th sample.
     *
     * @param x       [B, C, L]
     * @param alpha   [C]
     * @param invBeta [C]
     * @param out     [B, C, L]; may be {@code x}
     */
    void antiAliasedSnake(Tensor x, AntiAlias filters, Tensor alpha, Tensor invBeta, Tensor out);

    /**
     * @param w    [O, I, k]
     * @param bias [O] or empty
     */
    record Conv1d(Tensor w, Optional<Tensor> bias, int stride, int dilation, int padLeft, int padRight) {
    }

    /** Spatial padding modes: zeros, or mirror without repeating the edge. */
    enum SpatialPadding { ZEROS, REFLECT }

    /**
     * @param w           [O, I, kt, kh, kw]
     * @param bias        [O] or empty
     * @param strideT     and strideH, strideW: steps
     * @param frontFrames zero frames in front (causal padding)
     * @param top         and bottom, left, right: spatial padding in pixels
     */
    record Conv3d(Tensor w, Optional<Tensor> bias, int strideT, int strideH, int strideW,
                  int frontFrames, int top, int bottom, int left, int right, SpatialPadding mode) {
    }

    /**
     * @param upFilter   FP32 [k]
     * @param downFilter FP32 [k]
     * @param ratio      up- and downsampling factor
     */
    record AntiAlias(Tensor upFilter, Tensor downFilter, int ratio) {
    }
}

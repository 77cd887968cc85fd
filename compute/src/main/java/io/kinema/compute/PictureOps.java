package io.kinema.compute;

import io.kinema.weights.DType;
import java.util.Arrays;

/** Pictures of 8-bit levels. */
public interface PictureOps {
    /** Most channels of a picture. */
    int MOST_CHANNELS = 4;

    /**
     * {@code out[t, y, x, c] = 255 * min(max(x[c, t, y, x] * factor[c] + offset[c], 0), 1)}, rounded half to even; NaN gives 0. Products and
     * sums are rounded to FP32 one by one, so that every backend gives the same levels.
     *
     * @param x         FP32 [C, T, H, W], C at most {@link #MOST_CHANNELS}; pictures [H, W] are contiguous, channels and times may be strided
     * @param factor    one for each channel
     * @param offset    one for each channel
     * @param out       U8 [T, H, W, C], contiguous
     * @param notFinite I32 [T], contiguous: how many values of each picture are NaN or infinite
     */
    default void levels(Tensor x, float[] factor, float[] offset, Tensor out, Tensor notFinite) {
        requireLevels(x, factor, offset, out, notFinite);
        PictureLevels.compute(x, factor, offset, out, notFinite);
    }

    /** @throws IllegalArgumentException when the arguments of {@link #levels} do not fit each other */
    static void requireLevels(Tensor x, float[] factor, float[] offset, Tensor out, Tensor notFinite) {
        boolean pictures = x.dtype() == DType.F32 && x.rank() == 4 && x.size(0) >= 1 && x.size(0) <= MOST_CHANNELS
                && factor.length == x.size(0) && offset.length == x.size(0) && (x.elements() == 0 || x.select(0, 0).select(0, 0).contiguous());
        if (!pictures) {
            throw new IllegalArgumentException("levels: x got " + x + " with " + factor.length + " factors and " + offset.length
                    + " offsets, expected F32 [channels, times, height, width] with contiguous pictures, at most " + MOST_CHANNELS + " channels and a factor and an offset of each");
        }
        if (out.dtype() != DType.U8 || !out.contiguous() || !Arrays.equals(out.shape().toArray(), new long[] {x.size(1), x.size(2), x.size(3), x.size(0)})) {
            throw new IllegalArgumentException("levels: out got " + out + ", expected contiguous U8 [times, height, width, channels] of " + x);
        }
        if (notFinite.dtype() != DType.I32 || !notFinite.contiguous() || notFinite.rank() != 1 || notFinite.size(0) != x.size(1)) {
            throw new IllegalArgumentException("levels: notFinite got " + notFinite + ", expected I32 [" + x.size(1) + "]");
        }
    }
}

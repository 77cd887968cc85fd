package io.kinema.media.ffmpeg;

import org.bytedeco.ffmpeg.avutil.AVFrame;
import org.bytedeco.ffmpeg.global.swscale;
import org.bytedeco.ffmpeg.swscale.SwsContext;
import org.bytedeco.javacpp.DoublePointer;

/** Owns a converter between pixel formats of one size, exact to the last bit on every machine; closing twice is harmless. */
public final class Scaler implements AutoCloseable {

    /** Full chroma resolution on both sides of RGB, correct rounding, and no code path that depends on the processor. */
    private static final int EXACT = swscale.SWS_FULL_CHR_H_INP | swscale.SWS_FULL_CHR_H_INT | swscale.SWS_ACCURATE_RND
            | swscale.SWS_BITEXACT;

    private static final int UNCHANGED = 0;
    private static final int ONE = 1 << 16;

    private SwsContext context;

    private Scaler(SwsContext context) {
        this.context = context;
    }

    /**
     * @param width pixels
     * @param height pixels
     * @param sourceFormat an {@code AV_PIX_FMT_*}
     * @param targetFormat an {@code AV_PIX_FMT_*}
     * @param matrix an {@code SWS_CS_*}, the luma and chroma weights of the YUV side
     * @param sourceFull whether the source uses 0..255 and not 16..235
     * @param targetFull whether the target does
     */
    public static Scaler open(int width, int height, int sourceFormat, int targetFormat, int matrix, boolean sourceFull,
            boolean targetFull) {
        FFmpeg.load();
        SwsContext context = swscale.sws_getContext(width, height, sourceFormat, width, height, targetFormat,
                swscale.SWS_BILINEAR | EXACT, null, null, (DoublePointer) null);
        Scaler scaler = new Scaler(FFmpeg.allocated(context, "a pixel converter"));
        var weights = swscale.sws_getCoefficients(matrix);
        swscale.sws_setColorspaceDetails(context, weights, sourceFull ? 1 : 0, weights, targetFull ? 1 : 0, UNCHANGED, ONE, ONE);
        return scaler;
    }

    /** Converts {@code source} into {@code target}, which has its buffer. */
    public void convert(AVFrame source, AVFrame target) {
        FFmpeg.check(swscale.sws_scale_frame(context, target, source), "converting pixels");
    }

    @Override
    public void close() {
        swscale.sws_freeContext(context);
        context = null;
    }
}

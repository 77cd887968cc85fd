package io.kinema.engine.preprocess;

import io.kinema.engine.BadRequestException;
import io.kinema.media.image.PillowLanczos;
import io.kinema.media.image.RgbImage;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/** Brings reference videos to the model's frame rate and to a canvas of their own shape. */
public final class ReferenceVideos {

    private ReferenceVideos() {
    }

    /**
     * Which source frame each frame at the target rate shows. Source frame i is held from slot
     * {@code floor(i * target / fps + 0.5)} to the next one's, the last to where the video's end rounds to.
     *
     * @param frames source frames
     * @param fps their rate
     * @param limit at most this many frames are made
     * @param targetFps rate made
     * @throws BadRequestException if {@code fps} is not positive and finite
     */
    public static int[] resampleIndices(int frames, double fps, int limit, double targetFps) {
        requireRate(fps);
        int[] indices = new int[(int) Math.clamp(slot(frames, fps, targetFps), 0, limit)];
        int source = 0;
        for (int slot = 0; slot < indices.length; slot++) {
            while (source + 1 < frames && slot(source + 1, fps, targetFps) <= slot) {
                source++;
            }
            indices[slot] = source;
        }
        return indices;
    }

    /**
     * A video at the target rate, cut to {@code limit} frames, on the canvas of its own shape. Source frames are taken one by one
     * and no further than needed, so a long video costs no more memory than a short one.
     *
     * @param frames source frames in order, all of one size
     * @throws BadRequestException if it has no frames, no proper rate, or a shape outside 1:4 to 4:1
     */
    public static List<RgbImage> normalised(Iterator<RgbImage> frames, double fps, int limit, double targetFps, CanvasRule rule) {
        requireRate(fps);
        if (!frames.hasNext()) {
            throw new BadRequestException("references", "a video without frames", "expected at least one; choose another file");
        }
        RgbImage frame = frames.next();
        PixelSize canvas = rule.of(frame.width(), frame.height());
        List<RgbImage> out = new ArrayList<>();
        for (int i = 0; out.size() < limit; i++) {
            long end = Math.min(limit, slot(i + 1, fps, targetFps));
            if (end > out.size()) {
                // A frame that is held is scaled once and shared.
                RgbImage scaled = PillowLanczos.resize(frame, canvas.width(), canvas.height());
                while (out.size() < end) {
                    out.add(scaled);
                }
            }
            if (!frames.hasNext()) {
                break;
            }
            frame = frames.next();
        }
        return out;
    }

    /** The same for frames that are all there. */
    public static List<RgbImage> normalised(List<RgbImage> frames, double fps, int limit, double targetFps, CanvasRule rule) {
        return normalised(frames.iterator(), fps, limit, targetFps, rule);
    }

    /** Where a source frame begins, or the video ends, at the target rate. */
    private static long slot(int frame, double fps, double targetFps) {
        return fps == targetFps ? frame : (long) Math.floor(frame * (targetFps / fps) + 0.5);
    }

    private static void requireRate(double fps) {
        if (!(fps > 0) || Double.isInfinite(fps)) {
            throw new BadRequestException("references", "a video of " + fps + " frames a second", "expected a positive rate");
        }
    }
}

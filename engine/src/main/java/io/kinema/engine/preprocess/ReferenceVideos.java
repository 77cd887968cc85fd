package io.kinema.engine.preprocess;

import io.kinema.engine.BadRequestException;
import io.kinema.media.image.PillowLanczos;
import io.kinema.media.image.RgbImage;
import java.util.ArrayList;
import java.util.Arrays;
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
        if (!(fps > 0) || Double.isInfinite(fps)) {
            throw new BadRequestException("references", "a video of " + fps + " frames a second", "expected a positive rate");
        }
        double scale = targetFps / fps;
        int length = (int) Math.min(limit, fps == targetFps ? frames : (long) Math.floor(frames * scale + 0.5));
        int[] indices = new int[Math.max(0, length)];
        if (fps == targetFps) {
            Arrays.setAll(indices, i -> i);
            return indices;
        }
        int source = 0;
        for (int slot = 0; slot < indices.length; slot++) {
            while (source + 1 < frames && Math.floor((source + 1) * scale + 0.5) <= slot) {
                source++;
            }
            indices[slot] = source;
        }
        return indices;
    }

    /**
     * A video at the target rate, cut to {@code limit} frames, on the canvas of its own shape.
     *
     * @throws BadRequestException if it has no frames, no proper rate, or a shape outside 1:4 to 4:1
     */
    public static List<RgbImage> normalised(List<RgbImage> frames, double fps, int limit, double targetFps, CanvasRule rule) {
        if (frames.isEmpty()) {
            throw new BadRequestException("references", "a video without frames", "expected at least one; choose another file");
        }
        int[] indices = resampleIndices(frames.size(), fps, limit, targetFps);
        PixelSize canvas = rule.of(frames.getFirst().width(), frames.getFirst().height());
        List<RgbImage> out = new ArrayList<>();
        for (int i = 0; i < indices.length; i++) {
            // A frame that is held is scaled once and shared.
            out.add(i > 0 && indices[i] == indices[i - 1] ? out.getLast()
                    : PillowLanczos.resize(frames.get(indices[i]), canvas.width(), canvas.height()));
        }
        return out;
    }
}

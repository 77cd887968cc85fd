package io.kinema.engine.preprocess;

import io.kinema.media.image.PillowLanczos;
import io.kinema.media.image.RgbImage;
import java.util.ArrayList;
import java.util.List;

/** Puts keyframes on the canvas. */
public final class Keyframes {

    private Keyframes() {
    }

    /**
     * The keyframes at canvas size, in their order: the first is stretched, any other covers the canvas and is cropped around
     * its centre. A keyframe that has the size already is not touched.
     */
    public static List<RgbImage> onCanvas(List<RgbImage> keyframes, PixelSize canvas) {
        List<RgbImage> placed = new ArrayList<>();
        for (RgbImage keyframe : keyframes) {
            placed.add(placed.isEmpty() ? PillowLanczos.resize(keyframe, canvas.width(), canvas.height()) : coverCropped(keyframe, canvas));
        }
        return placed;
    }

    private static RgbImage coverCropped(RgbImage keyframe, PixelSize canvas) {
        double scale = Math.max((double) canvas.width() / keyframe.width(), (double) canvas.height() / keyframe.height());
        int width = Math.max(canvas.width(), (int) Math.rint(keyframe.width() * scale));
        int height = Math.max(canvas.height(), (int) Math.rint(keyframe.height() * scale));
        RgbImage resized = PillowLanczos.resize(keyframe, width, height);
        return resized.crop((width - canvas.width()) / 2, (height - canvas.height()) / 2, canvas.width(), canvas.height());
    }
}

package io.kinema.engine.verify;

import io.kinema.engine.preprocess.PixelSize;
import io.kinema.engine.preprocess.VisionPixels;
import io.kinema.media.image.RgbImage;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Between pictures and the tensors that cases keep. */
final class Pictures {
    private static final int RGB = RgbImage.CHANNELS;
    private static final String BYTES = "_u8";

    private Pictures() {
    }

    /** (row, column, RGB). */
    static Values values(RgbImage picture) {
        return Values.bytes(picture.rgb(), picture.height(), picture.width(), RGB);
    }

    /** Pictures of one size as (frame, row, column, RGB). */
    static Values values(List<RgbImage> frames) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        frames.forEach(f -> all.writeBytes(f.rgb()));
        return Values.bytes(all.toByteArray(), frames.size(), frames.getFirst().height(), frames.getFirst().width(), RGB);
    }

    /** The frames of (frame, row, column, RGB). */
    static List<RgbImage> frames(Values video) {
        int height = video.shape().size(1);
        int width = video.shape().size(2);
        int size = height * width * RGB;
        byte[] all = video.toBytes();
        List<RgbImage> frames = new ArrayList<>();
        for (int i = 0; i < video.shape().size(0); i++) {
            frames.add(new RgbImage(width, height, Arrays.copyOfRange(all, i * size, (i + 1) * size)));
        }
        return frames;
    }

    /**
     * Patches of one kind, and their grids, under the names that cases use.
     *
     * @param name     {@code pixel_values} or {@code pixel_values_videos}
     * @param gridName {@code image_grid_thw} or {@code video_grid_thw}
     */
    static void put(Answer.Builder answer, String name, String gridName, List<VisionPixels> all, int patch) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        int[] grids = new int[3 * all.size()];
        int rows = 0;
        for (int i = 0; i < all.size(); i++) {
            VisionPixels pixels = all.get(i);
            bytes.writeBytes(pixels.bytes());
            rows += pixels.rows();
            grids[3 * i] = pixels.grid().frames();
            grids[3 * i + 1] = pixels.grid().height();
            grids[3 * i + 2] = pixels.grid().width();
        }
        answer.put(name + BYTES, Values.bytes(bytes.toByteArray(), rows, RGB, all.getFirst().storedTimes(), patch, patch));
        answer.put(gridName, Values.ints(grids, all.size(), 3));
    }

    static Answer size(PixelSize size) {
        return Answer.of(Answer.JSON.objectNode().put("width", size.width()).put("height", size.height()));
    }
}

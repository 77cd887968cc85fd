package io.kinema.engine.pipeline;

import io.kinema.compute.Backend;
import io.kinema.compute.Tensor;
import io.kinema.engine.Stage;
import io.kinema.engine.layout.LatentShape;
import io.kinema.model.video.CodingOptions;
import io.kinema.model.video.ImageNetPixels;
import io.kinema.model.video.RgbFrameSink;
import io.kinema.model.video.VideoVae;
import java.util.ArrayList;
import java.util.List;

/** Turns final video latents into frames. */
final class VideoStage {
    private static final int RGB = 3;

    private VideoStage() {
    }

    /**
     * @param latents normalised (C, T, h, w)
     * @return frames in order, bytes (row, column, RGB)
     */
    static List<byte[]> decode(Backend backend, VideoVae vae, float[] latents, LatentShape shape, Clock clock, PipelineTap tap) {
        FiniteValues.require("final video latents", latents);
        float[] wide = vae.config().statistics().denormalise(latents, shape.frames() * shape.height() * shape.width());
        List<byte[]> pictures = new ArrayList<>();
        List<float[]> floats = new ArrayList<>();
        CodingOptions options = CodingOptions.RELEASED.withListener(tile -> clock.check(Stage.VIDEO_DECODING));
        try (RgbFrameSink bytes = new RgbFrameSink(backend, (index, rgb) -> pictures.add(rgb))) {
            vae.decode(Tensor.ofFloats(wide, shape.channels(), shape.frames(), shape.height(), shape.width()), options, (first, frames) -> {
                bytes.frames(first, frames);
                if (tap.looks()) {
                    floats.add(unitRgb(frames, HostCopy.floats(backend, frames)));
                }
            });
            bytes.finish();
        }
        if (tap.looks()) {
            int ratio = vae.config().spatialRatio();
            long[] sizes = {pictures.size(), (long) shape.height() * ratio, (long) shape.width() * ratio, RGB};
            tap.floats("video", Rows.join(floats), sizes);
            tap.bytes("frames_u8", joined(pictures), sizes);
        }
        return pictures;
    }

    /** (frame, row, column, RGB) in [0, 1]. @param values of {@code frames}, row-major */
    private static float[] unitRgb(Tensor frames, float[] values) {
        int count = frames.size(1);
        int plane = frames.size(2) * frames.size(3);
        float[] out = new float[count * plane * RGB];
        for (int i = 0; i < count; i++) {
            for (int c = 0; c < RGB; c++) {
                for (int p = 0; p < plane; p++) {
                    out[(i * plane + p) * RGB + c] = ImageNetPixels.unit(values[(c * count + i) * plane + p], c);
                }
            }
        }
        return out;
    }

    private static byte[] joined(List<byte[]> pictures) {
        int size = pictures.getFirst().length;
        byte[] all = new byte[Math.multiplyExact(pictures.size(), size)];
        for (int i = 0; i < pictures.size(); i++) {
            System.arraycopy(pictures.get(i), 0, all, i * size, size);
        }
        return all;
    }
}

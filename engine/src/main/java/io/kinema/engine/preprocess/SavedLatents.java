package io.kinema.engine.preprocess;

import io.kinema.engine.BadRequestException;
import io.kinema.engine.layout.LatentShape;
import io.kinema.engine.model.ModelGeometry;
import io.kinema.weights.FloatConversion;
import io.kinema.weights.SafetensorsFile;
import io.kinema.weights.Shape;
import io.kinema.weights.StoredTensor;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * The latents of an earlier clip, read back from the file that {@code --save-latents} wrote: normalised, clean.
 *
 * @param video        (C, T, H, W), row-major
 * @param shape        its sizes
 * @param sound        (2, C, n), row-major
 * @param audioLatents n
 */
public record SavedLatents(float[] video, LatentShape shape, float[] sound, int audioLatents) {
    private static final String VIDEO = "latents";
    private static final String SOUND = "audio_latents";

    /**
     * What a file's header says.
     *
     * @param video        shape of the video latents
     * @param audioLatents per channel
     */
    public record Header(LatentShape video, int audioLatents) {
    }

    /**
     * Reads the header alone.
     *
     * @throws BadRequestException when its latents are not of the model's shapes
     * @throws io.kinema.weights.BadWeightsException when the file is missing or no such file
     */
    public static Header header(Path path, ModelGeometry model) {
        try (SafetensorsFile file = SafetensorsFile.open(path)) {
            return header(path, file, model);
        }
    }

    /** Reads a file. @throws BadRequestException as {@link #header}, or when a value is not finite */
    public static SavedLatents read(Path path, ModelGeometry model) {
        try (SafetensorsFile file = SafetensorsFile.open(path)) {
            Header header = header(path, file, model);
            return new SavedLatents(values(path, file.get(VIDEO)), header.video(), values(path, file.get(SOUND)), header.audioLatents());
        }
    }

    /** The first {@code frames} latent frames and {@code latents} sound latents; itself when it has no more. */
    public SavedLatents cut(int frames, int latents) {
        int keptFrames = Math.min(frames, shape.frames());
        int keptSound = Math.min(latents, audioLatents);
        int plane = shape.height() * shape.width();
        return new SavedLatents(columns(video, shape.frames() * plane, keptFrames * plane), shape.withFrames(keptFrames),
                columns(sound, audioLatents, keptSound), keptSound);
    }

    /** The first {@code kept} of the {@code length} values of every row. */
    private static float[] columns(float[] rows, int length, int kept) {
        float[] out = new float[rows.length / length * kept];
        for (int row = 0; row < rows.length / length; row++) {
            System.arraycopy(rows, row * length, out, row * kept, kept);
        }
        return out;
    }

    private static Header header(Path path, SafetensorsFile file, ModelGeometry model) {
        long[] video = sizes(path, file, VIDEO, 5);
        long[] sound = sizes(path, file, SOUND, 3);
        int step = model.canvasMultiple() / model.spatialCompression();
        int chunk = model.counts().latentsPerChunk();
        if (video[0] != 1 || video[1] != model.latentChannels() || video[2] < chunk + 2 || video[2] % chunk != 2 || video[3] < 1 || video[4] < 1
                || video[3] % step != 0 || video[4] % step != 0 || video[2] * video[3] * video[4] > Integer.MAX_VALUE / model.latentChannels()) {
            throw wrong(path, VIDEO, video, "[1, " + model.latentChannels() + ", " + chunk + "n + 2, " + step + "h, " + step + "w]");
        }
        if (sound[0] != 2 || sound[1] != model.audioLatentChannels() || sound[2] < 1 || sound[2] > Integer.MAX_VALUE / (2L * model.audioLatentChannels())) {
            throw wrong(path, SOUND, sound, "[2, " + model.audioLatentChannels() + ", n]");
        }
        return new Header(new LatentShape((int) video[1], (int) video[2], (int) video[3], (int) video[4]), (int) sound[2]);
    }

    private static long[] sizes(Path path, SafetensorsFile file, String name, int axes) {
        Shape shape = file.find(name).map(StoredTensor::shape).orElseThrow(() -> new BadRequestException("references",
                "latents:" + path + " without a tensor '" + name + "'", "expected a file that --save-latents wrote"));
        if (shape.rank() != axes) {
            throw wrong(path, name, shape.toArray(), axes + " sizes");
        }
        return shape.toArray();
    }

    private static BadRequestException wrong(Path path, String name, long[] got, String expected) {
        return new BadRequestException("references", name + " " + Arrays.toString(got) + " in latents:" + path,
                "expected " + expected + "; give latents that --save-latents wrote with this model");
    }

    private static float[] values(Path path, StoredTensor stored) {
        float[] values = FloatConversion.toFloats(stored);
        for (float value : values) {
            if (!Float.isFinite(value)) {
                throw new BadRequestException("references", value + " among " + stored.name() + " of latents:" + path,
                        "expected finite numbers; the file is damaged");
            }
        }
        return values;
    }
}

package io.kinema.serve;

import io.kinema.jobs.Job;
import io.kinema.jobs.OutputFile;
import io.kinema.media.image.PngWriter;
import io.kinema.media.image.RgbImage;
import io.kinema.media.video.Mp4Format;
import io.kinema.media.video.Mp4Writer;
import io.kinema.media.video.VideoReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** Films of one colour, which the prompt decides. */
final class SolidFilms {
    private static final int SIDE = 64;
    private static final int FRAMES = 5;
    private static final int SOUND = 32_000 * FRAMES / 24;
    private static final int LEVELS = 4;

    private SolidFilms() {
    }

    /** A {@link FakeWorker.FilmMaker}. */
    static void make(Job job, int output, Map<OutputFile, Path> files) throws IOException {
        int colour = colourOf(job.request().generate().prompt());
        byte[] rgb = picture(colour);
        try (Mp4Writer writer = Mp4Writer.open(files.get(OutputFile.VIDEO), Mp4Format.of(SIDE, SIDE, FRAMES))) {
            writer.writeAudio(new float[SOUND], new float[SOUND]);
            for (int i = 0; i < FRAMES; i++) {
                writer.writeFrame(rgb);
            }
            writer.commit();
        }
        PngWriter.write(new RgbImage(SIDE, SIDE, rgb), files.get(OutputFile.THUMBNAIL));
        Files.writeString(files.get(OutputFile.RECORD), "{}");
    }

    /** One of 64 colours far apart. */
    static int colourOf(String prompt) {
        return Math.floorMod(prompt.hashCode(), LEVELS * LEVELS * LEVELS);
    }

    /** The colour nearest to that of a film's first frame. */
    static int colour(Path film) {
        try (VideoReader reader = VideoReader.open(film)) {
            RgbImage frame = reader.next().orElseThrow().image();
            int colour = 0;
            for (int channel = 0; channel < RgbImage.CHANNELS; channel++) {
                colour = colour * LEVELS + Math.round(frame.at(SIDE / 2, SIDE / 2, channel) * (LEVELS - 1) / 255f);
            }
            return colour;
        }
    }

    private static byte[] picture(int colour) {
        int[] levels = {colour / (LEVELS * LEVELS), colour / LEVELS % LEVELS, colour % LEVELS};
        byte[] rgb = new byte[SIDE * SIDE * RgbImage.CHANNELS];
        for (int i = 0; i < rgb.length; i++) {
            rgb[i] = (byte) (levels[i % RgbImage.CHANNELS] * 255 / (LEVELS - 1));
        }
        return rgb;
    }
}

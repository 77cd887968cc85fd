package io.kinema.jobs.process;

import io.kinema.engine.Clip;
import io.kinema.jobs.OutputFile;
import io.kinema.media.image.PillowLanczos;
import io.kinema.media.image.PngWriter;
import io.kinema.media.image.RgbImage;
import io.kinema.media.BadMediaException;
import io.kinema.weights.BadWeightsException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Set;

/** Writes the files of one output. */
final class ClipFiles {
    private static final int ACROSS = 4;
    private static final int MOST_TILES = ACROSS * ACROSS;
    private static final int TILE_WIDTH = 320;

    private ClipFiles() {
    }

    /** Writes all files into a folder, which is made. @throws Refusals.CannotWriteException when one cannot be written */
    static Set<OutputFile> write(Clip clip, Path folder) {
        try {
            Files.createDirectories(folder);
            clip.writeMp4(folder.resolve(OutputFile.VIDEO.fileName()));
            clip.writeRecord(folder.resolve(OutputFile.RECORD.fileName()));
            clip.saveLatents(folder.resolve(OutputFile.LATENTS.fileName()));
            PngWriter.write(frame(clip, clip.frameCount() / 2), folder.resolve(OutputFile.THUMBNAIL.fileName()));
            PngWriter.write(spritesheet(clip), folder.resolve(OutputFile.SPRITESHEET.fileName()));
            return EnumSet.allOf(OutputFile.class);
        } catch (BadMediaException | BadWeightsException cannotWrite) {
            throw new Refusals.CannotWriteException(cannotWrite);
        } catch (IOException e) {
            throw new Refusals.CannotWriteException(new java.io.UncheckedIOException("Cannot make the folder of the output: " + e.getMessage(), e));
        }
    }

    private static RgbImage frame(Clip clip, int index) {
        return new RgbImage(clip.width(), clip.height(), clip.frame(index));
    }

    static RgbImage spritesheet(Clip clip) {
        int tiles = Math.min(MOST_TILES, clip.frameCount());
        int width = Math.min(TILE_WIDTH, clip.width());
        int height = Math.max(1, Math.round((float) clip.height() * width / clip.width()));
        int across = Math.min(ACROSS, tiles);
        int down = (tiles + ACROSS - 1) / ACROSS;
        byte[] sheet = new byte[across * width * down * height * RgbImage.CHANNELS];
        for (int tile = 0; tile < tiles; tile++) {
            int index = tiles == 1 ? 0 : (int) ((long) tile * (clip.frameCount() - 1) / (tiles - 1));
            RgbImage picture = frame(clip, index);
            byte[] small = (picture.width() == width ? picture : PillowLanczos.resize(picture, width, height)).rgb();
            for (int row = 0; row < height; row++) {
                int at = ((tile / ACROSS * height + row) * across + tile % ACROSS) * width;
                System.arraycopy(small, row * width * RgbImage.CHANNELS, sheet, at * RgbImage.CHANNELS, width * RgbImage.CHANNELS);
            }
        }
        return new RgbImage(across * width, down * height, sheet);
    }
}

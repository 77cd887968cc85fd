package io.kinema.cli;

import io.kinema.engine.BadRequestException;
import io.kinema.engine.Clip;
import io.kinema.media.file.AtomicFile;
import io.kinema.media.file.WriteTarget;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Where a clip goes. Existing files of these names are replaced, each in one step.
 *
 * @param clip    the clip
 * @param record  its run record, beside it
 * @param wav     the sound alone
 * @param frames  a folder for the frames
 * @param latents the final latents
 */
record OutputFiles(Path clip, Path record, Optional<Path> wav, Optional<Path> frames, Optional<Path> latents) {
    private static final String SUFFIX = ".mp4";

    /**
     * Checks the name and the folder before any work is done.
     *
     * @throws BadRequestException when the name does not end in .mp4
     * @throws io.kinema.media.BadMediaException when the folder is missing or cannot be written
     */
    static OutputFiles at(Path clip, Optional<Path> wav, Optional<Path> frames, Optional<Path> latents) {
        String name = String.valueOf(clip.getFileName());
        if (!name.toLowerCase(Locale.ROOT).endsWith(SUFFIX) || name.length() == SUFFIX.length()) {
            throw new BadRequestException("output", "'" + clip + "'", "expected a file name that ends in .mp4");
        }
        Path record = clip.resolveSibling(name.substring(0, name.length() - SUFFIX.length()) + ".json");
        List.of(clip, record).forEach(WriteTarget::resolve);
        wav.ifPresent(WriteTarget::resolve);
        latents.ifPresent(WriteTarget::resolve);
        frames.ifPresent(OutputFiles::requireFolder);
        return new OutputFiles(clip, record, wav, frames, latents);
    }

    private static void requireFolder(Path folder) {
        if (Files.isRegularFile(folder)) {
            throw new BadRequestException("framesDir", "the file '" + folder + "'", "expected a folder, there or to be made");
        }
        WriteTarget.resolve(Files.isDirectory(folder) ? folder.resolve("frame-00000.png") : folder);
    }

    /** Writes all of them, the clip last but for its record, which never appears without its clip. */
    void write(Clip made) {
        wav.ifPresent(made::writeWav);
        frames.ifPresent(made::writeFrames);
        latents.ifPresent(made::saveLatents);
        try (AtomicFile file = AtomicFile.create(record)) {
            try {
                ByteBuffer text = ByteBuffer.wrap(made.record().toText().getBytes(StandardCharsets.UTF_8));
                while (text.hasRemaining()) {
                    file.channel().write(text);
                }
            } catch (IOException unwritten) {
                throw file.failure(unwritten);
            }
            made.writeMp4(clip);
            file.commit();
        }
    }
}

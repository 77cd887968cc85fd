package io.kinema.cli;

import io.kinema.engine.BadRequestException;
import io.kinema.engine.Clip;
import io.kinema.engine.Provenance;
import io.kinema.engine.plan.RequestResolver;
import io.kinema.media.BadMediaException;
import io.kinema.media.file.AtomicFile;
import io.kinema.media.file.Leftovers;
import io.kinema.media.file.StagedFiles;
import io.kinema.media.file.WriteTarget;
import io.kinema.weights.BadWeightsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Where the clips of a request go. Of several, clip k goes to {@code clip-k.mp4} where {@code clip.mp4} was asked for, and so do
 * its other files and its folder of frames. The files of one clip appear together when all of them are whole; existing files of
 * these names are replaced.
 *
 * @param clip    the clip
 * @param record  its run record, beside it
 * @param wav     the sound alone
 * @param frames  a folder for the frames
 * @param latents the final latents
 * @param outputs how many clips there are
 */
record OutputFiles(Path clip, Path record, Optional<Path> wav, Optional<Path> frames, Optional<Path> latents, int outputs) {
    private static final String SUFFIX = ".mp4";
    private static final String FRAME = "frame-\\d{5,}\\.png";

    /**
     * Checks the names and the folders before any work is done.
     *
     * @throws BadRequestException when the name does not end in .mp4
     * @throws BadMediaException when a folder is missing or cannot be written
     */
    static OutputFiles at(Path clip, Optional<Path> wav, Optional<Path> frames, Optional<Path> latents, int outputs) {
        String name = String.valueOf(clip.getFileName());
        if (!name.toLowerCase(Locale.ROOT).endsWith(SUFFIX) || name.length() == SUFFIX.length()) {
            throw new BadRequestException("output", "'" + clip + "'", "expected a file name that ends in .mp4");
        }
        Path record = clip.resolveSibling(name.substring(0, name.length() - SUFFIX.length()) + ".json");
        OutputFiles files = new OutputFiles(clip, record, wav, frames, latents, outputs);
        files.each().forEach(OutputFiles::requireWritable);
        return files;
    }

    /** The files of clip {@code index}; these themselves when there is one clip. */
    OutputFiles output(int index) {
        return outputs <= 1 ? this : new OutputFiles(numbered(clip, index), numbered(record, index), wav.map(f -> numbered(f, index)),
                frames.map(f -> numbered(f, index)), latents.map(f -> numbered(f, index)), 1);
    }

    /** {@code clip.mp4} becomes {@code clip-0.mp4}, {@code frames} becomes {@code frames-0}. */
    private static Path numbered(Path file, int index) {
        String name = String.valueOf(file.getFileName());
        int dot = name.lastIndexOf('.');
        return file.resolveSibling(dot > 0 ? name.substring(0, dot) + "-" + index + name.substring(dot) : name + "-" + index);
    }

    /** The files of each clip, in order. */
    List<OutputFiles> each() {
        return IntStream.range(0, Math.clamp(outputs, 1, RequestResolver.MAX_OUTPUTS)).mapToObj(this::output).toList();
    }

    /** Whether a file of a folder of frames is one of the frames. */
    static boolean isFrame(String name) {
        return name.matches(FRAME);
    }

    /**
     * Removes what killed runs left beside the targets. Makes a hidden file beside each target and removes it: some file systems call themselves writable and are not, which should not be found out
     * when the clip is made.
     *
     * @throws BadMediaException when one cannot be made
     */
    void probe() {
        List<Path> targets = each().stream().flatMap(one -> Stream.concat(Stream.of(one.clip, one.record),
                Stream.of(one.wav, one.latents, one.frames.map(OutputFiles::firstFrame)).flatMap(Optional::stream))).toList();
        targets.stream().map(target -> WriteTarget.resolve(target).getParent()).distinct().forEach(Leftovers::removeIn);
        targets.forEach(target -> AtomicFile.create(target).close());
    }

    private static Path firstFrame(Path folder) {
        return Files.isDirectory(folder) ? folder.resolve("frame-00000.png") : folder;
    }

    private void requireWritable() {
        List.of(clip, record).forEach(WriteTarget::resolve);
        wav.ifPresent(WriteTarget::resolve);
        latents.ifPresent(WriteTarget::resolve);
        frames.ifPresent(OutputFiles::requireFolder);
    }

    private static void requireFolder(Path folder) {
        if (Files.isRegularFile(folder)) {
            throw new BadRequestException("framesDir", "the file '" + folder + "'", "expected a folder, there or to be made");
        }
        WriteTarget.resolve(firstFrame(folder));
    }

    /** Writes all files of one clip, then puts them in place: the clip last but for its record, which never appears without it. */
    void write(Clip made, Provenance provenance) {
        try (StagedFiles staged = new StagedFiles()) {
            try {
                wav.map(staged::stage).ifPresent(made::writeWav);
                frames.map(folder -> staged.stageFolder(folder, OutputFiles::isFrame)).ifPresent(made::writeFrames);
                latents.map(staged::stage).ifPresent(made::saveLatents);
                made.writeMp4(staged.stage(clip), provenance);
                made.writeRecord(staged.stage(record));
            } catch (BadMediaException failure) {
                throw staged.named(failure);
            } catch (BadWeightsException failure) {
                throw staged.named(new BadMediaException(failure.getMessage(), failure));
            }
            staged.commit();
        }
    }
}

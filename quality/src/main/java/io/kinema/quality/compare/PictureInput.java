package io.kinema.quality.compare;

import io.kinema.media.container.HeaderReader;
import io.kinema.media.container.MediaHeader;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Supplier;

/**
 * Frames that can be opened.
 *
 * @param text  where they come from, for people
 * @param about how many, 0 when unknown
 * @param exact whether {@code about} was counted; where an index is missing it is duration times rate
 * @param lossy whether a lossy codec stands between them and what was made
 * @param opens opens them
 */
record PictureInput(String text, long about, boolean exact, boolean lossy, Supplier<FrameSource> opens) {
    private static final String INDEXED = "mov";
    private static final List<String> LOSSLESS = List.of("ffv1", "png", "rawvideo", "utvideo", "huffyuv");

    /** @param clip what was made of them, which says when they are shown */
    static PictureInput ofPictures(List<Path> files, Optional<Path> clip) {
        Path folder = files.getFirst().toAbsolutePath().getParent();
        String text = files.size() == 1 ? "the picture " + files.getFirst() : "frames before encoding (" + folder.getFileName() + "/)";
        OptionalDouble rate = clip.flatMap(file -> HeaderReader.read(file, Limits.LONG).video()).stream().mapToDouble(MediaHeader.Video::frameRate)
                .filter(value -> value > 0).findFirst();
        return new PictureInput(text, files.size(), true, false, () -> FrameSource.ofPictures(files, clip.map(FrameSource::startOf).orElse(0.0), rate));
    }

    static PictureInput ofVideo(Path file) {
        MediaHeader header = HeaderReader.read(file, Limits.LONG);
        MediaHeader.Video video = header.video().orElseThrow();
        boolean indexed = header.container().equals(INDEXED) && video.frames() > 0;
        return new PictureInput("decoded from " + file.getFileName() + " (" + video.codec() + ")", video.frames(), indexed, !LOSSLESS.contains(video.codec()),
                () -> FrameSource.ofVideo(file));
    }

    FrameSource open() {
        return opens.get();
    }
}

package io.kinema.quality.compare;

import io.kinema.media.BadMediaException;
import io.kinema.media.image.ImageReader;
import io.kinema.media.image.RgbImage;
import io.kinema.media.video.VideoReader;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;

/** Owns frames that are read one after the other, all of one size; closing twice is harmless. For one thread at a time. */
interface FrameSource extends AutoCloseable {
    /** The next frame, or empty after the last. @throws BadMediaException when it is damaged or of another size */
    Optional<RgbImage> next();

    /** When the first frame that was read is shown, in seconds on the source's clock; 0 when it has none. */
    double start();

    /** Pictures a second, where the source says. */
    OptionalDouble rate();

    @Override
    void close();

    /** The decoded pictures of a video. */
    static FrameSource ofVideo(Path file) {
        VideoReader reader = VideoReader.open(file, Limits.LONG);
        return new FrameSource() {
            private OptionalDouble start = OptionalDouble.empty();

            @Override
            public Optional<RgbImage> next() {
                Optional<VideoReader.VideoFrame> frame = reader.next();
                if (start.isEmpty() && frame.isPresent()) {
                    start = OptionalDouble.of(Double.isNaN(frame.get().seconds()) ? 0 : frame.get().seconds());
                }
                return frame.map(VideoReader.VideoFrame::image);
            }

            @Override
            public double start() {
                return start.orElse(0);
            }

            @Override
            public OptionalDouble rate() {
                return reader.frameRate() > 0 ? OptionalDouble.of(reader.frameRate()) : OptionalDouble.empty();
            }

            @Override
            public void close() {
                reader.close();
            }
        };
    }

    /** When the first picture of a video is shown, in seconds on its clock. */
    static double startOf(Path video) {
        try (FrameSource source = ofVideo(video)) {
            source.next();
            return source.start();
        }
    }

    /** Pictures from files, as they are, shown from a time on and at a rate that something else says. */
    static FrameSource ofPictures(List<Path> files, double start, OptionalDouble rate) {
        Iterator<Path> rest = files.iterator();
        return new FrameSource() {
            private Optional<RgbImage> first = Optional.empty();

            @Override
            public Optional<RgbImage> next() {
                if (!rest.hasNext()) {
                    return Optional.empty();
                }
                Path file = rest.next();
                RgbImage image = ImageReader.read(file);
                RgbImage like = first.orElse(image);
                if (image.width() != like.width() || image.height() != like.height()) {
                    throw new BadMediaException("The frame '" + file + "' is " + image.width() + "x" + image.height() + ", those before it are "
                            + like.width() + "x" + like.height() + "; give frames of one size.");
                }
                first = Optional.of(like);
                return Optional.of(image);
            }

            @Override
            public double start() {
                return start;
            }

            @Override
            public OptionalDouble rate() {
                return rate;
            }

            @Override
            public void close() {
                // Each picture was closed when it had been read.
            }
        };
    }
}

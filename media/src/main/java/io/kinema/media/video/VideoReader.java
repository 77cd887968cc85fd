package io.kinema.media.video;

import io.kinema.media.BadMediaException;
import io.kinema.media.container.MediaLimits;
import io.kinema.media.container.StreamSource;
import io.kinema.media.image.DisplayMatrix;
import io.kinema.media.image.FrameToRgb;
import io.kinema.media.image.Orientation;
import io.kinema.media.image.RgbImage;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.Optional;
import org.bytedeco.ffmpeg.avformat.AVStream;
import org.bytedeco.ffmpeg.avutil.AVFrame;
import org.bytedeco.ffmpeg.avutil.AVRational;
import org.bytedeco.ffmpeg.global.avutil;

/**
 * Owns an open video file and its decoder, and gives its pictures one by one, upright, as 8-bit RGB.
 *
 * <p>MP4, MOV and WebM with H.264, H.265, VP8, VP9, AV1, MJPEG or ProRes, decided by content. The rotation of the
 * display matrix is applied, snapped to a quarter turn; pixels that are not square are left as they are. Colours are converted
 * with the matrix and range the stream is tagged with, BT.601 limited if it has no tags, as FFmpeg does. Closing twice is
 * harmless.
 */
public final class VideoReader implements AutoCloseable {

    private static final double RATE_TOLERANCE = 0.05;

    private final Path file;
    private final StreamSource source;
    private final Orientation orientation;
    private final int width;
    private final int height;
    private final double frameRate;
    private final Deque<VideoFrame> decoded = new ArrayDeque<>();
    private Optional<FrameToRgb> converter = Optional.empty();
    private long count;
    private boolean closed;

    private VideoReader(Path file, StreamSource source, double frameRate) {
        this.file = file;
        this.source = source;
        this.orientation = DisplayMatrix.turn(source.stream().codecpar());
        int storedWidth = source.stream().codecpar().width();
        int storedHeight = source.stream().codecpar().height();
        this.width = orientation.swapsSides() ? storedHeight : storedWidth;
        this.height = orientation.swapsSides() ? storedWidth : storedHeight;
        this.frameRate = frameRate;
    }

    /**
     * One picture of a video.
     *
     * @param image upright
     * @param seconds when it is shown, on the file's clock; not a number if the file does not say
     */
    public record VideoFrame(RgbImage image, double seconds) {
    }

    /** @throws BadMediaException if the file is missing, has no video, or is beyond the default limits */
    public static VideoReader open(Path file) {
        return open(file, MediaLimits.DEFAULT);
    }

    /** @throws BadMediaException if the file is missing, has no video, or is beyond {@code limits} */
    public static VideoReader open(Path file, MediaLimits limits) {
        StreamSource source = stream(file, limits);
        try {
            return new VideoReader(file, source, frameRate(source, file, limits));
        } catch (RuntimeException e) {
            source.close();
            throw e;
        }
    }

    private static StreamSource stream(Path file, MediaLimits limits) {
        return StreamSource.open(file, avutil.AVMEDIA_TYPE_VIDEO, limits)
                .orElseThrow(() -> new BadMediaException("The file '" + file + "' has no video; give one with pictures."));
    }

    /** Pixels across, upright. */
    public int width() {
        return width;
    }

    /** Pixels down, upright. */
    public int height() {
        return height;
    }

    /** Pictures per second: the container's average; where that is only declared (WebM) and not kept, the average of the pictures' times. */
    public double frameRate() {
        return frameRate;
    }

    /**
     * The next picture, or empty after the last.
     *
     * @throws BadMediaException if the file is damaged, ends early or changes its size on the way
     * @throws IllegalStateException after {@link #close}
     */
    public Optional<VideoFrame> next() {
        if (closed) {
            throw new IllegalStateException("The reader of '" + file + "' is closed.");
        }
        while (decoded.isEmpty()) {
            if (!source.advance(this::take)) {
                if (count == 0) {
                    throw new BadMediaException("The video '" + file + "' holds no picture; export it again.");
                }
                return Optional.empty();
            }
        }
        return Optional.of(decoded.poll());
    }

    /** The pictures not read yet, decoded as they are asked for; failures are those of {@link #next()}. */
    public Iterator<RgbImage> images() {
        return new Iterator<>() {
            private Optional<VideoFrame> ahead = VideoReader.this.next();

            @Override
            public boolean hasNext() {
                return ahead.isPresent();
            }

            @Override
            public RgbImage next() {
                RgbImage image = ahead.orElseThrow().image();
                ahead = VideoReader.this.next();
                return image;
            }
        };
    }

    private void take(AVFrame frame) {
        count++;
        if (converter.filter(c -> !c.takes(frame)).isPresent()) {
            throw new BadMediaException("The video '" + file + "' changes its size or pixel format on the way; export it again.");
        }
        if (converter.isEmpty()) {
            converter = Optional.of(FrameToRgb.of(frame));
        }
        decoded.add(new VideoFrame(orientation.apply(converter.get().convert(frame)), source.seconds(frame)));
    }

    private static double frameRate(StreamSource source, Path file, MediaLimits limits) {
        double declared = declaredRate(source.stream());
        if (source.isTimed()) {
            return declared;
        }
        try (StreamSource again = stream(file, limits)) {
            double kept = again.packetRate();
            // Times in milliseconds make a constant rate look uneven by this much at most.
            return Double.isNaN(kept) || Math.abs(kept - declared) <= RATE_TOLERANCE * declared ? declared : kept;
        }
    }

    private static double declaredRate(AVStream stream) {
        AVRational average = stream.avg_frame_rate();
        AVRational rate = average.num() > 0 && average.den() > 0 ? average : stream.r_frame_rate();
        return rate.num() > 0 && rate.den() > 0 ? avutil.av_q2d(rate) : 0;
    }

    @Override
    public void close() {
        closed = true;
        converter.ifPresent(FrameToRgb::close);
        source.close();
        decoded.clear();
    }
}

package io.kinema.media.container;

import io.kinema.media.BadMediaException;
import io.kinema.media.ffmpeg.Demuxer;
import io.kinema.media.ffmpeg.FFmpeg;
import io.kinema.media.ffmpeg.FFmpegException;
import io.kinema.media.file.ReadSource;
import io.kinema.media.image.DisplayMatrix;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import org.bytedeco.ffmpeg.avformat.AVStream;
import org.bytedeco.ffmpeg.avutil.AVRational;
import org.bytedeco.ffmpeg.global.avcodec;
import org.bytedeco.ffmpeg.global.avutil;
import org.bytedeco.javacpp.BytePointer;

/** Reads {@link MediaHeader}s, under the same limits and the same list of containers as the readers that decode. */
public final class HeaderReader {

    private HeaderReader() {
    }

    /** True if the first bytes of a readable file are those of a container that Kinema reads. */
    public static boolean knows(Path file) {
        try (FileChannel channel = FileChannel.open(file)) {
            Containers.of(channel, "");
            return true;
        } catch (IOException | BadMediaException e) {
            return false;
        }
    }

    /** {@link #read(Path, MediaLimits)} under the default limits. */
    public static MediaHeader read(Path file) {
        return read(file, MediaLimits.DEFAULT);
    }

    /**
     * Reads what a file says of itself.
     *
     * @throws BadMediaException if the file is missing, too large, too long, of no known kind, or damaged at its start
     */
    public static MediaHeader read(Path file, MediaLimits limits) {
        String name = "'" + file + "'";
        WorkBudget budget = new WorkBudget(name, limits.maxWork(), System::nanoTime);
        try (SeekableByteChannel channel = new BudgetedChannel(channel(file, limits), budget)) {
            return budget.spend(() -> read(file, name, channel, limits));
        } catch (NoSuchFileException e) {
            throw new BadMediaException("The file " + name + " does not exist.", e);
        } catch (IOException | UncheckedIOException e) {
            throw budget.isSpent() ? budget.exhausted() : new BadMediaException("The file " + name + " cannot be read: " + e.getMessage() + ".", e);
        } catch (FFmpegException e) {
            throw budget.isSpent() ? budget.exhausted()
                    : new BadMediaException("The file " + name + " is damaged or cut off: FFmpeg says '" + e.reason() + "'; export it again.", e);
        }
    }

    private static FileChannel channel(Path file, MediaLimits limits) throws IOException {
        if (Files.isDirectory(file)) {
            throw new BadMediaException("The file '" + file + "' is a folder; give a video or sound file.");
        }
        ReadSource.requirePlain(file);
        long size = Files.size(file);
        if (size == 0 || size > limits.maxBytes()) {
            throw new BadMediaException("The file '" + file + "' has " + size + " bytes; expected 1 to " + limits.maxBytes() + ".");
        }
        return FileChannel.open(file);
    }

    private static MediaHeader read(Path file, String name, SeekableByteChannel channel, MediaLimits limits) {
        FFmpeg.load();
        try {
            String container = Containers.of(channel, name);
            try (Demuxer demuxer = Demuxer.open(container, Containers.decoders(), limits.maxPixels(), channel)) {
                double seconds = demuxer.seconds().orElse(0.0);
                if (seconds > limits.maxSeconds()) {
                    throw new BadMediaException("The file " + name + " lasts " + seconds + " s; expected at most " + limits.maxSeconds()
                            + "; cut it first.");
                }
                Optional<AVStream> video = demuxer.stream(avutil.AVMEDIA_TYPE_VIDEO);
                Optional<AVStream> sound = demuxer.stream(avutil.AVMEDIA_TYPE_AUDIO);
                video.ifPresent(stream -> HeaderChecks.check(name, stream, demuxer, limits));
                sound.ifPresent(stream -> HeaderChecks.check(name, stream, demuxer, limits));
                return new MediaHeader(file, container, channel.size(), seconds, video.map(s -> video(s, seconds)), sound.map(s -> sound(s, seconds)),
                        demuxer.tags());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e.getMessage(), e);
        }
    }

    private static MediaHeader.Video video(AVStream stream, double whole) {
        boolean turned = DisplayMatrix.turn(stream.codecpar()).swapsSides();
        int width = stream.codecpar().width();
        int height = stream.codecpar().height();
        AVRational average = stream.avg_frame_rate();
        AVRational rate = average.num() > 0 && average.den() > 0 ? average : stream.r_frame_rate();
        double fps = rate.num() > 0 && rate.den() > 0 ? avutil.av_q2d(rate) : 0;
        double seconds = seconds(stream, whole);
        BytePointer format = avutil.av_get_pix_fmt_name(stream.codecpar().format());
        return new MediaHeader.Video(codec(stream), format == null || format.isNull() ? "" : format.getString(), turned ? height : width,
                turned ? width : height, fps, stream.nb_frames() > 0 ? stream.nb_frames() : Math.round(seconds * fps), seconds);
    }

    private static MediaHeader.Sound sound(AVStream stream, double whole) {
        return new MediaHeader.Sound(codec(stream), stream.codecpar().sample_rate(), stream.codecpar().ch_layout().nb_channels(),
                seconds(stream, whole));
    }

    private static String codec(AVStream stream) {
        return avcodec.avcodec_get_name(stream.codecpar().codec_id()).getString();
    }

    private static double seconds(AVStream stream, double whole) {
        return stream.duration() > 0 ? stream.duration() * avutil.av_q2d(stream.time_base()) : whole;
    }
}

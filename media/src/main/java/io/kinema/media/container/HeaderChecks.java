package io.kinema.media.container;

import io.kinema.media.BadMediaException;
import io.kinema.media.ffmpeg.Demuxer;
import org.bytedeco.ffmpeg.avcodec.AVCodecParameters;
import org.bytedeco.ffmpeg.avformat.AVStream;
import org.bytedeco.ffmpeg.avutil.AVRational;
import org.bytedeco.ffmpeg.global.avutil;

/** Refuses a stream by what its container says of it, before any of it is decoded. */
final class HeaderChecks {

    private static final int LEAST_RATE = 4000;
    private static final int MOST_RATE = 384_000;
    private static final int MOST_CHANNELS = 8;

    private HeaderChecks() {
    }

    /** @throws BadMediaException if the stream is beyond the limits */
    static void check(String name, AVStream stream, Demuxer demuxer, MediaLimits limits) {
        double seconds = Math.max(demuxer.seconds().orElse(0.0), stream.duration() > 0 ? stream.duration() * avutil.av_q2d(stream.time_base()) : 0);
        if (stream.codecpar().codec_type() == avutil.AVMEDIA_TYPE_VIDEO) {
            checkPictures(name, stream, demuxer, seconds, limits);
        } else {
            checkSound(name, stream.codecpar(), seconds, limits);
        }
    }

    private static void checkPictures(String name, AVStream stream, Demuxer demuxer, double seconds, MediaLimits limits) {
        long width = stream.codecpar().width();
        long height = stream.codecpar().height();
        if (width * height > limits.maxPixels()) {
            throw new BadMediaException("The video " + name + " is " + width + "x" + height + ", more than " + limits.maxPixels()
                    + " pixels; scale it down first.");
        }
        AVRational rate = stream.avg_frame_rate();
        long frames = rate.num() > 0 && rate.den() > 0 ? Math.round(seconds * avutil.av_q2d(rate)) : 0;
        frames = Math.max(frames, Math.max(stream.nb_frames(), demuxer.indexed(stream)));
        if (frames > limits.maxFrames()) {
            throw tooManyFrames(name, Long.toString(frames), limits);
        }
    }

    private static void checkSound(String name, AVCodecParameters sound, double seconds, MediaLimits limits) {
        int rate = sound.sample_rate();
        int channels = sound.ch_layout().nb_channels();
        if (rate < LEAST_RATE || rate > MOST_RATE || channels < 1 || channels > MOST_CHANNELS) {
            throw new BadMediaException("The sound of " + name + " has " + channels + " channels at " + rate + " Hz; expected 1 to "
                    + MOST_CHANNELS + " at " + LEAST_RATE + " to " + MOST_RATE + ", convert it first.");
        }
        if (seconds * rate * channels > limits.maxSamples()) {
            throw new BadMediaException("The sound of " + name + " has " + Math.round(seconds * rate * channels) + " samples, more than "
                    + limits.maxSamples() + "; cut it first.");
        }
    }

    static BadMediaException tooManyFrames(String name, String got, MediaLimits limits) {
        return new BadMediaException("The video " + name + " has " + got + " frames, expected at most " + limits.maxFrames()
                + "; cut it or lower its frame rate first.");
    }
}

package io.kinema.media.audio;

import io.kinema.media.BadMediaException;
import io.kinema.media.container.MediaLimits;
import io.kinema.media.container.StreamSource;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.stream.DoubleStream;
import org.bytedeco.ffmpeg.avutil.AVFrame;
import org.bytedeco.ffmpeg.global.avutil;

/**
 * Reads the sound of a file, or of a video's track, at its own rate and with its own channels.
 *
 * <p>WAV, MP3, FLAC, Ogg, MP4, MOV and WebM, decided by content. What an encoder added in front is left out, as the container
 * says.
 */
public final class AudioReader {

    private AudioReader() {
    }

    /** @throws BadMediaException if the file is missing, has no sound, is damaged or beyond the default limits */
    public static Sound read(Path file) {
        return read(file, MediaLimits.DEFAULT);
    }

    /** @throws BadMediaException if the file is missing, has no sound, is damaged or beyond {@code limits} */
    public static Sound read(Path file, MediaLimits limits) {
        return readTrack(file, limits)
                .orElseThrow(() -> new BadMediaException("The file '" + file + "' has no sound; give one that has."));
    }

    /**
     * The soundtrack of a video; empty if it has none.
     *
     * @throws BadMediaException if the file is missing, damaged or beyond {@code limits}
     */
    public static Optional<Sound> readTrack(Path file, MediaLimits limits) {
        Optional<StreamSource> open = StreamSource.open(file, avutil.AVMEDIA_TYPE_AUDIO, limits);
        if (open.isEmpty()) {
            return Optional.empty();
        }
        try (StreamSource source = open.get()) {
            int rate = source.stream().codecpar().sample_rate();
            int channels = source.stream().codecpar().ch_layout().nb_channels();
            Samples samples = new Samples(file, channels, rate, limits);
            while (source.advance(samples::add)) {
                // Each step adds what it decoded.
            }
            return Optional.of(samples.sound());
        }
    }

    /**
     * When the sound of a file begins, on the file's clock, where that of a video may begin at another time; empty if it has no sound or does
     * not say.
     *
     * @throws BadMediaException if the file is missing, damaged or beyond {@code limits}
     */
    public static OptionalDouble startSeconds(Path file, MediaLimits limits) {
        Optional<StreamSource> open = StreamSource.open(file, avutil.AVMEDIA_TYPE_AUDIO, limits);
        if (open.isEmpty()) {
            return OptionalDouble.empty();
        }
        try (StreamSource source = open.get()) {
            DoubleStream.Builder times = DoubleStream.builder();
            boolean[] found = new boolean[1];
            while (!found[0] && source.advance(frame -> {
                times.add(source.seconds(frame));
                found[0] = true;
            })) {
                // Until the first frame comes out.
            }
            return times.build().limit(1).filter(time -> !Double.isNaN(time)).findFirst();
        }
    }

    /** Collects decoded samples. */
    private static final class Samples {

        private final Path file;
        private final int rate;
        private final long most;
        private final float[][] channels;
        private int length;

        Samples(Path file, int channels, int rate, MediaLimits limits) {
            this.file = file;
            this.rate = rate;
            this.most = (long) Math.min(limits.maxSamples() / channels, limits.maxSeconds() * rate);
            this.channels = new float[channels][Math.min(rate, 1 << 16)];
        }

        void add(AVFrame frame) {
            if (frame.ch_layout().nb_channels() != channels.length || frame.sample_rate() != rate) {
                throw new BadMediaException("The sound of '" + file + "' changes its channels or rate on the way; export it again.");
            }
            int count = frame.nb_samples();
            if (length + (long) count > most) {
                throw new BadMediaException("The sound of '" + file + "' has more than " + most + " samples; cut it first.");
            }
            for (int c = 0; c < channels.length; c++) {
                if (channels[c].length < length + count) {
                    channels[c] = Arrays.copyOf(channels[c], (int) Math.min(most, 2L * (length + count)));
                }
                SampleFormat.of(frame, file).copy(frame, c, channels[c], length);
            }
            length += count;
        }

        Sound sound() {
            if (length == 0) {
                throw new BadMediaException("The sound of '" + file + "' is empty or damaged; export it again.");
            }
            float[][] exact = new float[channels.length][];
            for (int c = 0; c < exact.length; c++) {
                exact[c] = Arrays.copyOf(channels[c], length);
            }
            return new Sound(rate, exact);
        }
    }
}

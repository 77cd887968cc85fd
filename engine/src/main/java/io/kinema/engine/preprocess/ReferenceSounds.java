package io.kinema.engine.preprocess;

import io.kinema.engine.BadRequestException;
import io.kinema.media.audio.SincResampler;
import io.kinema.media.audio.Sound;
import java.util.Arrays;

/** Brings reference sounds to stereo at the model's sampling rate. */
public final class ReferenceSounds {

    private static final int LEAST_RATE = 4000;
    private static final int MOST_RATE = 384_000;

    private ReferenceSounds() {
    }

    /** @throws BadRequestException if a sound has more than two channels, or a rate outside 4 to 384 kHz */
    public static void requireFormat(int channels, int rate) {
        if (channels > 2) {
            throw new BadRequestException("references", "a sound of " + channels + " channels",
                    "expected one or two; mix it down first");
        }
        if (rate < LEAST_RATE || rate > MOST_RATE) {
            throw new BadRequestException("references", "a sound of " + rate + " Hz", "expected " + LEAST_RATE + " to "
                    + MOST_RATE + "; convert it first");
        }
    }

    /**
     * The first {@code maxSeconds} of a sound, cut at its own rate, then stereo (one channel is doubled), then resampled once.
     *
     * @throws BadRequestException if the sound has more than two channels, no sample, or a rate outside 4 to 384 kHz
     */
    public static Sound normalised(Sound sound, int targetRate, double maxSeconds) {
        requireFormat(sound.channelCount(), sound.sampleRate());
        int kept = (int) Math.min(sound.length(), (long) (maxSeconds * sound.sampleRate()));
        if (kept < 1) {
            throw new BadRequestException("references", "a sound without samples", "expected at least one; choose another file");
        }
        float[] left = Arrays.copyOf(sound.channel(0), kept);
        float[] right = sound.channelCount() == 1 ? left : Arrays.copyOf(sound.channel(1), kept);
        return new SincResampler(sound.sampleRate(), targetRate).resample(new Sound(sound.sampleRate(), new float[][] {left, right}));
    }
}

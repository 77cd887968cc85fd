package io.kinema.engine.preprocess;

import io.kinema.engine.BadRequestException;
import io.kinema.media.audio.SincResampler;
import io.kinema.media.audio.Sound;
import java.util.Arrays;

/** Brings reference sounds to stereo at the model's sampling rate. */
public final class ReferenceSounds {

    private static final int LEAST_RATE = 4000;
    private static final int MOST_RATE = 384_000;

    /** 5.1 in the order of WAV, AAC and FLAC as FFmpeg gives it: front, centre, the low-frequency channel, back. */
    private static final int SURROUND = 6;
    private static final int FRONT_LEFT = 0;
    private static final int FRONT_RIGHT = 1;
    private static final int CENTRE = 2;
    private static final int BACK_LEFT = 4;
    private static final int BACK_RIGHT = 5;
    private static final float HALF_POWER = (float) Math.sqrt(0.5);

    private ReferenceSounds() {
    }

    /** @throws BadRequestException if a sound has neither one, two nor six channels, or a rate outside 4 to 384 kHz */
    public static void requireFormat(int channels, int rate) {
        if (channels > 2 && channels != SURROUND) {
            throw new BadRequestException("references", "a sound of " + channels + " channels",
                    "expected one, two or six (5.1); mix it down first");
        }
        if (rate < LEAST_RATE || rate > MOST_RATE) {
            throw new BadRequestException("references", "a sound of " + rate + " Hz", "expected " + LEAST_RATE + " to "
                    + MOST_RATE + "; convert it first");
        }
    }

    /**
     * The first {@code maxSeconds} of a sound, cut at its own rate, then stereo (one channel is doubled, 5.1 is mixed down), then
     * resampled once.
     *
     * @throws BadRequestException if the sound has neither one, two nor six channels, no sample, or a rate outside 4 to 384 kHz
     */
    public static Sound normalised(Sound sound, int targetRate, double maxSeconds) {
        requireFormat(sound.channelCount(), sound.sampleRate());
        int kept = (int) Math.min(sound.length(), (long) (maxSeconds * sound.sampleRate()));
        if (kept < 1) {
            throw new BadRequestException("references", "a sound without samples", "expected at least one; choose another file");
        }
        boolean surround = sound.channelCount() == SURROUND;
        float[] left = surround ? mixed(sound, FRONT_LEFT, BACK_LEFT, kept) : Arrays.copyOf(sound.channel(FRONT_LEFT), kept);
        float[] right = sound.channelCount() == 1 ? left
                : surround ? mixed(sound, FRONT_RIGHT, BACK_RIGHT, kept) : Arrays.copyOf(sound.channel(FRONT_RIGHT), kept);
        return new SincResampler(sound.sampleRate(), targetRate).resample(new Sound(sound.sampleRate(), new float[][] {left, right}));
    }

    /** ITU-R BS.775 without the low-frequency channel, scaled so that full scale on all channels stays full scale. */
    private static float[] mixed(Sound sound, int front, int back, int kept) {
        float scale = 1 / (1 + 2 * HALF_POWER);
        float[] out = new float[kept];
        for (int i = 0; i < kept; i++) {
            out[i] = scale * (sound.channel(front)[i] + HALF_POWER * (sound.channel(CENTRE)[i] + sound.channel(back)[i]));
        }
        return out;
    }
}

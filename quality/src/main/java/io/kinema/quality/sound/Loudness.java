package io.kinema.quality.sound;

import io.kinema.media.audio.Sound;
import java.util.Arrays;

/** Integrated loudness of mono or stereo sound by ITU-R BS.1770-4: K weighting, 400 ms blocks, absolute and relative gate. */
public final class Loudness {
    private static final double BLOCK_SECONDS = 0.4;
    private static final double STEP_SECONDS = 0.1;
    private static final double ABSOLUTE_GATE = -70;
    private static final double RELATIVE_GATE = -10;
    private static final double OFFSET = -0.691;

    private Loudness() {
    }

    /** LUFS; all channels count alike. Negative infinity when nothing passes the gates, as in silence or less than 0.4 s of sound. */
    public static double integrated(Sound sound) {
        double[] blocks = blockEnergies(sound.channel(0), sound.sampleRate());
        for (int c = 1; c < sound.channelCount(); c++) {
            blocks = sum(blocks, blockEnergies(sound.channel(c), sound.sampleRate()));
        }
        double[] loud = Arrays.stream(blocks).filter(e -> lufs(e) > ABSOLUTE_GATE).toArray();
        double gate = lufs(Arrays.stream(loud).average().orElse(0)) + RELATIVE_GATE;
        return lufs(Arrays.stream(loud).filter(e -> lufs(e) > gate).average().orElse(0));
    }

    private static double lufs(double energy) {
        return OFFSET + 10 * Math.log10(energy);
    }

    private static double[] sum(double[] a, double[] b) {
        double[] out = a.clone();
        for (int i = 0; i < out.length; i++) {
            out[i] += b[i];
        }
        return out;
    }

    /** Mean square of each overlapping block of the weighted channel. */
    private static double[] blockEnergies(float[] x, int sampleRate) {
        double[] y = Biquad.highPass(sampleRate).filter(Biquad.shelf(sampleRate).filter(x));
        int block = (int) Math.round(BLOCK_SECONDS * sampleRate);
        int step = (int) Math.round(STEP_SECONDS * sampleRate);
        if (y.length < block) {
            return new double[0];
        }
        double[] energies = new double[(y.length - block) / step + 1];
        for (int b = 0; b < energies.length; b++) {
            double sum = 0;
            for (int i = b * step; i < b * step + block; i++) {
                sum += y[i] * y[i];
            }
            energies[b] = sum / block;
        }
        return energies;
    }

    /** A second-order section; a0 is 1. */
    private record Biquad(double b0, double b1, double b2, double a1, double a2) {
        /** The head's shelf: the recommendation's analogue prototype at any rate (centre 1681.97 Hz, 4 dB, Q 0.7072). */
        static Biquad shelf(int sampleRate) {
            double k = Math.tan(Math.PI * 1681.974450955533 / sampleRate);
            double q = 0.7071752369554196;
            double vh = Math.pow(10, 3.999843853973347 / 20);
            double vb = Math.pow(vh, 0.4996667741545416);
            double a0 = 1 + k / q + k * k;
            return new Biquad((vh + vb * k / q + k * k) / a0, 2 * (k * k - vh) / a0, (vh - vb * k / q + k * k) / a0,
                    2 * (k * k - 1) / a0, (1 - k / q + k * k) / a0);
        }

        /** The low cut (38.135 Hz, Q 0.5003). */
        static Biquad highPass(int sampleRate) {
            double k = Math.tan(Math.PI * 38.13547087602444 / sampleRate);
            double q = 0.5003270373238773;
            double a0 = 1 + k / q + k * k;
            return new Biquad(1, -2, 1, 2 * (k * k - 1) / a0, (1 - k / q + k * k) / a0);
        }

        double[] filter(float[] x) {
            double[] wide = new double[x.length];
            for (int i = 0; i < x.length; i++) {
                wide[i] = x[i];
            }
            return filter(wide);
        }

        double[] filter(double[] x) {
            double[] y = new double[x.length];
            double z1 = 0;
            double z2 = 0;
            for (int i = 0; i < x.length; i++) {
                y[i] = b0 * x[i] + z1;
                z1 = b1 * x[i] - a1 * y[i] + z2;
                z2 = b2 * x[i] - a2 * y[i];
            }
            return y;
        }
    }
}

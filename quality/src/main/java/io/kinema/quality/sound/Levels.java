package io.kinema.quality.sound;

import io.kinema.media.audio.Sound;

/**
 * How loud a sound is and whether it is clipped, all channels together.
 *
 * @param peak       largest magnitude; full scale is 1
 * @param rms        root mean square
 * @param fullScale  samples at full scale: magnitude at least 32767/32768
 * @param longestRun most full-scale samples of one sign in a row, of one channel
 * @param samples    of all channels
 * @param nonFinite  samples that are NaN or infinite; they count for nothing else
 */
public record Levels(double peak, double rms, long fullScale, int longestRun, long samples, long nonFinite) {
    /** Share of full-scale samples above which a sound is called clipped. */
    public static final double CLIPPED_SHARE = 0.001;
    private static final double FULL_SCALE = 32767.0 / 32768;

    /** Measures a sound. */
    public static Levels of(Sound sound) {
        Tally tally = new Tally();
        for (int c = 0; c < sound.channelCount(); c++) {
            tally.channel(sound.channel(c));
        }
        long samples = (long) sound.length() * sound.channelCount();
        return new Levels(tally.peak, samples == 0 ? 0 : Math.sqrt(tally.energy / samples), tally.fullScale, tally.longestRun, samples, tally.nonFinite);
    }

    /** Full-scale samples over all samples, 0 to 1. */
    public double fullScaleShare() {
        return samples == 0 ? 0 : (double) fullScale / samples;
    }

    /** True when more than 0.1% of the samples are at full scale. */
    public boolean clipped() {
        return fullScaleShare() > CLIPPED_SHARE;
    }

    /** RMS against full scale, negative infinity for silence. */
    public double rmsDb() {
        return 20 * Math.log10(rms);
    }

    static double energy(float[] x) {
        double sum = 0;
        for (float v : x) {
            sum += (double) v * v;
        }
        return sum;
    }

    private static final class Tally {
        private double peak;
        private double energy;
        private long fullScale;
        private int longestRun;
        private long nonFinite;

        void channel(float[] x) {
            int run = 0;
            float last = 0;
            for (float v : x) {
                if (!Float.isFinite(v)) {
                    nonFinite++;
                    run = 0;
                    continue;
                }
                boolean full = Math.abs(v) >= FULL_SCALE;
                run = !full ? 0 : last * v > 0 ? run + 1 : 1;
                last = full ? v : 0;
                fullScale += full ? 1 : 0;
                longestRun = Math.max(longestRun, run);
                peak = Math.max(peak, Math.abs(v));
                energy += (double) v * v;
            }
        }
    }
}

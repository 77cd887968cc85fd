package io.kinema.engine.record;

/**
 * What is measurable about a clip's sound without a reference.
 *
 * @param samples         per channel
 * @param sampleRate      Hz
 * @param peak            largest magnitude
 * @param rms             root mean square of both channels
 * @param fullScale       samples of both channels at full scale (magnitude at least 32767/32768)
 * @param clicks          sudden jumps, see {@link #of}
 * @param loudnessLufs    integrated loudness by ITU-R BS.1770-4; negative infinity for silence or less than 0.4 s
 */
public record SoundReport(int samples, int sampleRate, double peak, double rms, long fullScale, int clicks, double loudnessLufs) {
    /** Share of full-scale samples above which a clip's sound is called clipped. */
    public static final double CLIPPED_SHARE = 0.001;
    private static final double FULL_SCALE = 32767.0 / 32768;
    private static final double CLICK_FLOOR = 0.2;
    private static final double CLICK_RATIO = 12;
    private static final double CLICK_WINDOW_SECONDS = 0.02;
    private static final double CLICK_GAP_SECONDS = 0.005;

    /**
     * Measures left and right, samples in [-1, 1]. A click is a sample whose second difference is at least 0.2 and twelve times
     * the root mean square of the second differences in the 20 ms before it; those within 5 ms of one another count once.
     */
    public static SoundReport of(float[] left, float[] right, int sampleRate) {
        double peak = Math.max(peak(left), peak(right));
        long count = (long) left.length + right.length;
        double rms = count == 0 ? 0 : Math.sqrt((energy(left) + energy(right)) / count);
        return new SoundReport(left.length, sampleRate, peak, rms, fullScale(left) + fullScale(right),
                clicks(left, sampleRate) + clicks(right, sampleRate), Loudness.integrated(left, right, sampleRate));
    }

    /** Full-scale samples over all samples. */
    public double fullScaleShare() {
        return samples == 0 ? 0 : fullScale / (2.0 * samples);
    }

    /** True when more than 0.1% of the samples are at full scale. */
    public boolean clipped() {
        return fullScaleShare() > CLIPPED_SHARE;
    }

    private static double peak(float[] x) {
        double peak = 0;
        for (float v : x) {
            peak = Math.max(peak, Math.abs(v));
        }
        return peak;
    }

    private static double energy(float[] x) {
        double sum = 0;
        for (float v : x) {
            sum += (double) v * v;
        }
        return sum;
    }

    private static long fullScale(float[] x) {
        long count = 0;
        for (float v : x) {
            if (Math.abs(v) >= FULL_SCALE) {
                count++;
            }
        }
        return count;
    }

    private static int clicks(float[] x, int sampleRate) {
        int window = (int) (sampleRate * CLICK_WINDOW_SECONDS);
        int gap = (int) (sampleRate * CLICK_GAP_SECONDS);
        double[] jump = new double[x.length];
        for (int i = 1; i + 1 < x.length; i++) {
            jump[i] = x[i + 1] - 2.0 * x[i] + x[i - 1];
        }
        int clicks = 0;
        int last = -gap - 1;
        double energy = 0;
        for (int i = 0; i < jump.length; i++) {
            int behind = Math.min(i, window);
            double around = behind == 0 ? 0 : Math.sqrt(Math.max(0, energy) / behind);
            if (Math.abs(jump[i]) >= CLICK_FLOOR && Math.abs(jump[i]) >= CLICK_RATIO * around) {
                if (i - last > gap) {
                    clicks++;
                }
                last = i;
            }
            energy += jump[i] * jump[i] - (i >= window ? jump[i - window] * jump[i - window] : 0);
        }
        return clicks;
    }
}

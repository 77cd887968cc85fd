package io.kinema.media.audio;

/**
 * Changes a sampling rate as torchaudio's {@code Resample} does by default: a sinc low-pass at 0.99 of the lower Nyquist
 * frequency under a Hann window six zero crossings wide.
 *
 * <p>Both rates are divided by their greatest common divisor; output sample {@code k * new + j} is the dot product of kernel
 * {@code j} with the input around sample {@code k * old}. Kernels are computed in float64 from a phase {@code -j / new} that is
 * first rounded to float32, then rounded to float32; products are summed in float64. The output has
 * {@code ceil(float32(new * length / old))} samples.
 */
public final class SincResampler {

    private static final int ZERO_CROSSINGS = 6;
    private static final double ROLLOFF = 0.99;

    /** Rates beyond this would need gigabytes of kernels; no real pair of rates comes near. */
    private static final long MOST_TAPS = 1L << 26;

    private final int sourceRate;
    private final int targetRate;
    private final int oldStep;
    private final int newStep;
    private final int reach;
    /** Of each kernel only the taps under the window are kept: coprime rates have thousands of kernels of thousands of taps. */
    private final float[][] kernels;
    private final int[] starts;

    /**
     * @param sourceRate samples per second, at least 1
     * @param targetRate samples per second, at least 1
     * @throws IllegalArgumentException if a rate is not positive or the pair is absurd
     */
    public SincResampler(int sourceRate, int targetRate) {
        if (sourceRate < 1 || targetRate < 1) {
            throw new IllegalArgumentException("Sampling rates are positive, got " + sourceRate + " and " + targetRate + " Hz.");
        }
        int divisor = gcd(sourceRate, targetRate);
        this.sourceRate = sourceRate;
        this.targetRate = targetRate;
        this.oldStep = sourceRate / divisor;
        this.newStep = targetRate / divisor;
        double cutoff = Math.min(oldStep, newStep) * ROLLOFF;
        this.reach = (int) Math.ceil((double) ZERO_CROSSINGS * oldStep / cutoff);
        if ((2L * reach + 4) * newStep > MOST_TAPS) {
            throw new IllegalArgumentException("Cannot resample " + sourceRate + " to " + targetRate
                    + " Hz: the rates lie too far apart.");
        }
        this.starts = new int[newStep];
        this.kernels = sourceRate == targetRate ? new float[0][] : kernels(cutoff);
    }

    /** The sound at the target rate; at its own rate, the sound itself. */
    public Sound resample(Sound sound) {
        if (sound.sampleRate() != sourceRate) {
            throw new IllegalArgumentException("This resampler takes " + sourceRate + " Hz, got " + sound.sampleRate() + " Hz.");
        }
        if (sourceRate == targetRate) {
            return sound;
        }
        float[][] channels = new float[sound.channelCount()][];
        for (int c = 0; c < channels.length; c++) {
            channels[c] = resample(sound.channel(c));
        }
        return new Sound(targetRate, channels);
    }

    private float[] resample(float[] samples) {
        int length = (int) Math.ceil((float) ((double) newStep * samples.length / oldStep));
        float[] out = new float[length];
        for (int i = 0; i < length; i++) {
            int kernel = i % newStep;
            out[i] = dot(kernels[kernel], samples, i / newStep * oldStep - reach + starts[kernel]);
        }
        return out;
    }

    /** Samples before the start and after the end count as zero. */
    private static float dot(float[] kernel, float[] samples, int from) {
        int first = Math.max(0, -from);
        int end = Math.min(kernel.length, samples.length - from);
        double sum = 0;
        for (int k = first; k < end; k++) {
            sum += (double) kernel[k] * samples[from + k];
        }
        return (float) sum;
    }

    private float[][] kernels(double cutoff) {
        float[][] all = new float[newStep][];
        double gain = cutoff / oldStep;
        double half = ZERO_CROSSINGS / cutoff;
        for (int j = 0; j < newStep; j++) {
            double phase = (float) -j / (float) newStep;
            int end = Math.min(2 * reach + oldStep, (int) Math.ceil(reach + oldStep * (half - phase)) + 1);
            starts[j] = Math.max(0, (int) Math.floor(reach - oldStep * (half + phase)) - 1);
            all[j] = new float[end - starts[j]];
            for (int k = 0; k < all[j].length; k++) {
                double t = (phase + (double) (k + starts[j] - reach) / oldStep) * cutoff;
                all[j][k] = (float) (windowedSinc(Math.clamp(t, -ZERO_CROSSINGS, ZERO_CROSSINGS)) * gain);
            }
        }
        return all;
    }

    private static double windowedSinc(double t) {
        double cosine = Math.cos(t * Math.PI / ZERO_CROSSINGS / 2);
        double angle = t * Math.PI;
        return (angle == 0 ? 1 : Math.sin(angle) / angle) * cosine * cosine;
    }

    private static int gcd(int a, int b) {
        return b == 0 ? a : gcd(b, a % b);
    }
}

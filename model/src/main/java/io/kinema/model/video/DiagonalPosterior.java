package io.kinema.model.video;

import io.kinema.model.LatentStatistics;
import java.util.Arrays;

/**
 * The normal distribution with diagonal covariance that a video encodes to; immutable. Values are laid out
 * [latent channel, time, height, width].
 */
public final class DiagonalPosterior {
    private static final float LEAST_LOG_VARIANCE = -30f;
    private static final float MOST_LOG_VARIANCE = 20f;
    private final float[] mean;
    private final float[] logVariance;

    private DiagonalPosterior(float[] mean, float[] logVariance) {
        this.mean = mean;
        this.logVariance = logVariance;
    }

    /** Splits the moments of {@link VideoVae#encode}: the first half of the channels is the mean, the second the log variance. */
    public static DiagonalPosterior of(float[] moments) {
        int half = moments.length / 2;
        return new DiagonalPosterior(Arrays.copyOfRange(moments, 0, half), Arrays.copyOfRange(moments, half, moments.length));
    }

    /** A copy of the mean. */
    public float[] mean() {
        return mean.clone();
    }

    /** {@code mean + exp(0.5 * clamp(logVariance, -30, 20)) * noise}, as many standard normal values as the mean has. */
    public float[] sample(float[] noise) {
        if (noise.length != mean.length) {
            throw new IllegalArgumentException("posterior: got " + noise.length + " noise values, expected " + mean.length);
        }
        float[] sample = new float[mean.length];
        for (int i = 0; i < sample.length; i++) {
            float deviation = (float) Math.exp(0.5f * Math.clamp(logVariance[i], LEAST_LOG_VARIANCE, MOST_LOG_VARIANCE));
            sample[i] = mean[i] + deviation * noise[i];
        }
        return sample;
    }

    /**
     * Latents that condition a request: a sample rounded to FP16 (H3 was trained with conditions of that precision), widened
     * and normalised in FP32.
     *
     * @param noise standard normal values, one per latent
     * @param plane values of one channel: time * height * width
     */
    public float[] conditionLatents(float[] noise, LatentStatistics statistics, int plane) {
        float[] sample = sample(noise);
        for (int i = 0; i < sample.length; i++) {
            sample[i] = Float.float16ToFloat(Float.floatToFloat16(sample[i]));
        }
        return statistics.normalise(sample, plane);
    }
}

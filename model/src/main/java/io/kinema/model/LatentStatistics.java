package io.kinema.model;

/**
 * Per-channel mean and standard deviation that a pipeline uses to normalise the latents of a VAE; immutable.
 * All arithmetic is FP32, one rounding per operation, on arrays laid out [..., channel, plane].
 */
public final class LatentStatistics {
    private final float[] mean;
    private final float[] std;

    /** @throws IllegalArgumentException when the lengths differ or a deviation is not a positive finite number */
    public LatentStatistics(float[] mean, float[] std) {
        if (mean.length != std.length) {
            throw new IllegalArgumentException("latent statistics: got " + mean.length + " means and " + std.length + " deviations, expected as many");
        }
        for (int c = 0; c < std.length; c++) {
            if (!(std[c] > 0) || !Float.isFinite(std[c])) {
                throw new IllegalArgumentException("latent statistics: deviation of channel " + c + " is " + std[c] + ", expected a positive number");
            }
        }
        this.mean = mean.clone();
        this.std = std.clone();
    }

    /** Number of latent channels. */
    public int channels() {
        return mean.length;
    }

    /** {@code (x - mean) / std}: from what a VAE encodes to what the denoiser works on. */
    public float[] normalise(float[] latents, int plane) {
        float[] out = new float[checked(latents, plane)];
        for (int i = 0; i < out.length; i++) {
            int c = i / plane % mean.length;
            out[i] = (latents[i] - mean[c]) / std[c];
        }
        return out;
    }

    /** {@code x * std + mean}: from what the denoiser works on to what a VAE decodes. */
    public float[] denormalise(float[] latents, int plane) {
        float[] out = new float[checked(latents, plane)];
        for (int i = 0; i < out.length; i++) {
            int c = i / plane % mean.length;
            out[i] = latents[i] * std[c] + mean[c];
        }
        return out;
    }

    private int checked(float[] latents, int plane) {
        if (plane <= 0 || latents.length % ((long) plane * mean.length) != 0) {
            throw new IllegalArgumentException("latents: got " + latents.length + " values in planes of " + plane
                    + ", expected a multiple of " + mean.length + " channels");
        }
        return latents.length;
    }
}

package io.kinema.engine.schedule;

/**
 * One rectified-flow Euler update (eta 0) from sigma to sigma_next, in FP32 with every product and sum rounded:
 * {@code x0 = x + (1 - t) v}, {@code x' = r x + (1 - r) x0}, {@code r = sigma_next / sigma}. The model's velocity points
 * towards the data. {@code 1 - t} is computed from the rounded timestep, so below sigma 1/2 it may differ from sigma.
 *
 * @param noiseLevel 1 - t
 * @param ratio      sigma_next / sigma; 0 in the last step, which returns x0
 */
public record EulerStep(float noiseLevel, float ratio) {
    /**
     * Updates {@code sample[from, to)} in place; the values in front of {@code from} (condition rows) are not touched.
     *
     * @param sample   latent rows, flat
     * @param velocity model output for the same rows, flat, same length
     */
    public void apply(float[] sample, float[] velocity, int from, int to) {
        if (sample.length != velocity.length) {
            throw new IllegalArgumentException("velocity: got " + velocity.length + " values, expected " + sample.length);
        }
        float rest = 1 - ratio;
        for (int i = from; i < to; i++) {
            float x = sample[i];
            float denoised = x + noiseLevel * velocity[i];
            sample[i] = ratio * x + rest * denoised;
        }
    }

    /** {@link #apply(float[], float[], int, int)} over everything. */
    public void apply(float[] sample, float[] velocity) {
        apply(sample, velocity, 0, sample.length);
    }
}

package io.kinema.model.audio;

import io.kinema.compute.Tensor;
import io.kinema.model.load.Parameters;

/**
 * Folds weight normalisation when a layer is loaded: {@code w = v * (g / ||v||)}, the norm over all axes but the first.
 * (For a transposed convolution the first axis is the input channel.) The norm is summed in float64 and rounded to FP32;
 * the quotient and the product are FP32.
 */
final class WeightNorm {
    private WeightNorm() {
    }

    /** The folded weight of the layer at {@code p}, which has {@code weight_g} [a, 1, 1] and {@code weight_v} [a, b, k]. */
    static Tensor load(Parameters p, int a, int b, int k) {
        return p.computed("weight folded", () -> fold(p.host("weight_g", a, 1, 1), p.host("weight_v", a, b, k)), a, b, k);
    }

    /** @param v rows of equal length, one per entry of {@code g} */
    static float[] fold(float[] g, float[] v) {
        float[] w = new float[v.length];
        int row = v.length / g.length;
        for (int r = 0; r < g.length; r++) {
            double sum = 0;
            for (int i = r * row; i < (r + 1) * row; i++) {
                sum += (double) v[i] * v[i];
            }
            float scale = g[r] / (float) Math.sqrt(sum);
            for (int i = r * row; i < (r + 1) * row; i++) {
                w[i] = v[i] * scale;
            }
        }
        return w;
    }
}

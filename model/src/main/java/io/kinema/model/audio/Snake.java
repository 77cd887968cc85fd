package io.kinema.model.audio;

import io.kinema.compute.Backend;
import io.kinema.compute.Tensor;
import io.kinema.model.load.Parameters;

/**
 * Tables of {@code x + invBeta * sin(alpha * x)^2} per channel; invBeta is {@code 1 / (beta + 1e-9)} in FP32.
 *
 * @param alpha   FP32 [C]
 * @param invBeta FP32 [C]
 */
record Snake(Tensor alpha, Tensor invBeta) {
    private static final float EPSILON = 1e-9f;

    /** The encoder's activation: one table serves as frequency and magnitude, stored as it is. */
    static Snake plain(Parameters p, int channels) {
        float[] alpha = p.host("alpha", 1, channels, 1);
        return new Snake(p.upload(alpha, channels), p.upload(inverse(alpha), channels));
    }

    /** The decoder's activation (SnakeBeta): two tables stored as logarithms. */
    static Snake beta(Parameters p, int channels) {
        float[] alpha = exp(p.host("alpha", channels));
        float[] beta = exp(p.host("beta", channels));
        return new Snake(p.upload(alpha, channels), p.upload(inverse(beta), channels));
    }

    void apply(Backend backend, Tensor x, Tensor out) {
        backend.snake(x, alpha, invBeta, out);
    }

    private static float[] exp(float[] logs) {
        float[] values = new float[logs.length];
        for (int i = 0; i < logs.length; i++) {
            values[i] = (float) Math.exp(logs[i]);
        }
        return values;
    }

    private static float[] inverse(float[] beta) {
        float[] values = new float[beta.length];
        for (int i = 0; i < beta.length; i++) {
            values[i] = 1f / (beta[i] + EPSILON);
        }
        return values;
    }
}

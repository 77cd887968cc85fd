package io.kinema.compute.reference;

import io.kinema.compute.AttentionOps;
import io.kinema.compute.Tensor;

/** Attention in its textbook form, everything in FP64 between the operands and the result. */
final class ReferenceAttention implements AttentionOps {

    @Override
    public void attention(Tensor q, Tensor k, Tensor v, float scale, boolean causal, Tensor out) {
        Geometry g = new Geometry(q.size(0), k.size(0), q.size(1), k.size(1), q.size(2));
        float[] queries = HostArrays.floats(q);
        float[] keys = HostArrays.floats(k);
        float[] values = HostArrays.floats(v);
        float[] result = new float[queries.length];
        double[] weights = new double[g.n];
        for (int m = 0; m < g.m; m++) {
            int visible = causal ? Math.clamp(m + 1L + g.n - g.m, 0, g.n) : g.n;
            for (int h = 0; h < g.heads; h++) {
                softmaxOfScores(queries, keys, g, m, h, visible, scale, weights);
                weightedSum(values, g, h, visible, weights, result, (m * g.heads + h) * g.d);
            }
        }
        HostArrays.store(result, out);
    }

    private record Geometry(int m, int n, int heads, int kvHeads, int d) {
        int keyStart(int n, int head) {
            return (n * kvHeads + head * kvHeads / heads) * d;
        }
    }

    private static void softmaxOfScores(float[] queries, float[] keys, Geometry g, int m, int h, int visible, float scale, double[] weights) {
        double largest = Double.NEGATIVE_INFINITY;
        for (int n = 0; n < visible; n++) {
            double dot = 0;
            for (int i = 0; i < g.d; i++) {
                dot += (double) queries[(m * g.heads + h) * g.d + i] * keys[g.keyStart(n, h) + i];
            }
            weights[n] = dot * scale;
            largest = Math.max(largest, weights[n]);
        }
        double sum = 0;
        for (int n = 0; n < visible; n++) {
            weights[n] = Math.exp(weights[n] - largest);
            sum += weights[n];
        }
        for (int n = 0; n < visible; n++) {
            weights[n] /= sum;
        }
    }

    private static void weightedSum(float[] values, Geometry g, int h, int visible, double[] weights, float[] result, int at) {
        double[] sum = new double[g.d];
        for (int n = 0; n < visible; n++) {
            for (int i = 0; i < g.d; i++) {
                sum[i] += weights[n] * values[g.keyStart(n, h) + i];
            }
        }
        for (int i = 0; i < g.d; i++) {
            result[at + i] = (float) sum[i];
        }
    }
}

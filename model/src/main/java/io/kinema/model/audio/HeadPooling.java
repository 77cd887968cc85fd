package io.kinema.model.audio;

import io.kinema.compute.DenseWeight;
import io.kinema.compute.Weight;
import io.kinema.model.load.Parameters;

/**
 * Attention heads averaged into one, then pooled adaptively to fewer channels: channel i is the mean of channels
 * [floor(i * D / out), ceil((i + 1) * D / out)) of the mean head. Both are linear, so they are one matrix
 * [out, heads * D].
 */
final class HeadPooling {
    private HeadPooling() {
    }

    static Weight matrix(Parameters p, int heads, int headDim, int out) {
        return new DenseWeight(p.upload(values(heads, headDim, out), out, (long) heads * headDim));
    }

    static float[] values(int heads, int headDim, int out) {
        float[] values = new float[out * heads * headDim];
        for (int i = 0; i < out; i++) {
            int from = (int) Math.floorDiv((long) i * headDim, out);
            int to = (int) Math.ceilDiv((i + 1L) * headDim, out);
            for (int h = 0; h < heads; h++) {
                for (int d = from; d < to; d++) {
                    values[(i * heads + h) * headDim + d] = 1f / (heads * (to - from));
                }
            }
        }
        return values;
    }
}

package io.kinema.compute.reference;

import io.kinema.compute.NormOps;
import io.kinema.compute.Tensor;
import java.util.Optional;

/** Normalisation with FP64 statistics rounded to FP32. */
final class ReferenceNorms implements NormOps {

    @Override
    public void rmsNorm(Tensor x, Optional<Tensor> weight, float eps, Tensor out) {
        int d = x.size(-1);
        float[] values = HostArrays.floats(x);
        float[] w = HostArrays.floatsOr(weight, d, 1);
        for (int at = 0; at < values.length; at += d) {
            normaliseRms(values, at, w, eps);
        }
        HostArrays.store(values, out);
    }

    private static void normaliseRms(float[] values, int at, float[] w, float eps) {
        double squares = 0;
        for (int i = 0; i < w.length; i++) {
            squares += (double) values[at + i] * values[at + i];
        }
        float inverse = (float) (1 / Math.sqrt(squares / w.length + eps));
        for (int i = 0; i < w.length; i++) {
            values[at + i] = values[at + i] * inverse * w[i];
        }
    }

    @Override
    public void rmsNormModulate(Tensor x, Tensor weight, float eps, RowModulation modulation, Tensor out) {
        int d = x.size(1);
        float[] values = HostArrays.floats(x);
        float[] w = HostArrays.floats(weight);
        float[] shift = HostArrays.floats(modulation.shift());
        float[] scale = HostArrays.floats(modulation.scale());
        int[] row = HostArrays.ints(modulation.rowIndex());
        for (int m = 0; m < x.size(0); m++) {
            normaliseRms(values, m * d, w, eps);
            for (int i = 0; i < d; i++) {
                float product = values[m * d + i] * (1 + scale[row[m] * d + i]);
                values[m * d + i] = product + shift[row[m] * d + i];
            }
        }
        HostArrays.store(values, out);
    }

    @Override
    public void layerNorm(Tensor x, Optional<Tensor> weight, Optional<Tensor> bias, float eps, Tensor out) {
        int d = x.size(-1);
        float[] values = HostArrays.floats(x);
        float[] w = HostArrays.floatsOr(weight, d, 1);
        float[] b = HostArrays.floatsOr(bias, d, 0);
        for (int at = 0; at < values.length; at += d) {
            Moments moments = Moments.of(values, at, d);
            float mean = (float) moments.mean();
            float inverse = (float) (1 / Math.sqrt(moments.variance() + eps));
            for (int i = 0; i < d; i++) {
                values[at + i] = (values[at + i] - mean) * inverse * w[i] + b[i];
            }
        }
        HostArrays.store(values, out);
    }

    @Override
    public void groupNormPerFrame(Tensor x, int groups, Tensor weight, Tensor bias, float eps, boolean silu, Tensor out) {
        int channels = x.size(0) / groups;
        int frames = x.size(1);
        int area = x.size(2) * x.size(3);
        float[] values = HostArrays.floats(x);
        float[] w = HostArrays.floats(weight);
        float[] b = HostArrays.floats(bias);
        for (int g = 0; g < groups; g++) {
            for (int t = 0; t < frames; t++) {
                normaliseGroup(values, new Group(g * channels, channels, t, frames, area), w, b, eps, silu);
            }
        }
        HostArrays.store(values, out);
    }

    /** Channels [first, first + count) of frame t. */
    private record Group(int first, int count, int t, int frames, int area) {
        int start(int channel) {
            return ((first + channel) * frames + t) * area;
        }
    }

    private static void normaliseGroup(float[] values, Group g, float[] w, float[] b, float eps, boolean silu) {
        float[] gathered = new float[g.count * g.area];
        for (int c = 0; c < g.count; c++) {
            System.arraycopy(values, g.start(c), gathered, c * g.area, g.area);
        }
        Moments moments = Moments.of(gathered, 0, gathered.length);
        float mean = (float) moments.mean();
        float inverse = (float) (1 / Math.sqrt(moments.variance() + eps));
        for (int c = 0; c < g.count; c++) {
            for (int i = 0; i < g.area; i++) {
                float y = (gathered[c * g.area + i] - mean) * inverse * w[g.first + c] + b[g.first + c];
                values[g.start(c) + i] = silu ? Activations.silu(y) : y;
            }
        }
    }

    @Override
    public void headNormRotary(Tensor x, Optional<HeadNorm> norm, Optional<Rotary> rotary, Tensor out) {
        int d = x.size(2);
        float[] values = HostArrays.floats(x);
        norm.ifPresent(n -> {
            float[] w = HostArrays.floatsOr(n.weight(), d, 1);
            for (int at = 0; at < values.length; at += d) {
                normaliseRms(values, at, w, n.eps());
            }
        });
        rotary.ifPresent(r -> {
            float[] cos = HostArrays.floats(r.cos());
            float[] sin = HostArrays.floats(r.sin());
            int rotated = r.cos().size(1);
            for (int head = 0; head < x.size(0) * x.size(1); head++) {
                rotate(values, head * d, cos, sin, head / x.size(1) * rotated, rotated);
            }
        });
        HostArrays.store(values, out);
    }

    private static void rotate(float[] values, int at, float[] cos, float[] sin, int table, int rotated) {
        int half = rotated / 2;
        for (int i = 0; i < half; i++) {
            float a = values[at + i];
            float b = values[at + half + i];
            float aCos = a * cos[table + i];
            float aSin = a * sin[table + half + i];
            float bCos = b * cos[table + half + i];
            float bSin = -b * sin[table + i];
            values[at + i] = aCos + bSin;
            values[at + half + i] = bCos + aSin;
        }
    }

    /** Mean and population variance of a range, in FP64 and two passes. */
    private record Moments(double mean, double variance) {
        static Moments of(float[] values, int at, int length) {
            double sum = 0;
            for (int i = 0; i < length; i++) {
                sum += values[at + i];
            }
            double mean = sum / length;
            double squares = 0;
            for (int i = 0; i < length; i++) {
                squares += (values[at + i] - mean) * (values[at + i] - mean);
            }
            return new Moments(mean, squares / length);
        }
    }
}

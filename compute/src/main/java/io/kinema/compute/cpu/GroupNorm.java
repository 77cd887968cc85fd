package io.kinema.compute.cpu;

import io.kinema.compute.Tensor;

/** Group norm with statistics per group and frame: one task per pair, block by block, block sums added in FP64. */
final class GroupNorm {
    private final WorkerPool pool;

    GroupNorm(WorkerPool pool) {
        this.pool = pool;
    }

    void perFrame(Tensor x, int groups, float[] weight, float[] bias, float eps, boolean silu, Tensor out) {
        int frames = x.size(1);
        int channels = x.size(0) / groups;
        long area = (long) x.size(2) * x.size(3);
        if (area == 0) {
            return;
        }
        // Rows are the planes of one channel and frame.
        Rows planes = Rows.of(x.reshape(x.size(0), frames, area));
        Rows to = Rows.of(out.reshape(x.size(0), frames, area));
        pool.run(groups * frames, (i, scratch) -> {
            Group g = new Group(i / frames * channels, channels, i % frames, frames, area);
            Moments moments = moments(planes, g, scratch);
            float mean = (float) moments.mean;
            float inverse = CpuNorms.inverseRoot(moments.variance, 1, eps);
            for (int c = 0; c < channels; c++) {
                normalise(planes, to, g, c, mean, inverse, weight[g.first + c], bias[g.first + c], silu, scratch);
            }
        });
    }

    /** Channels [first, first + count) of frame t. */
    private record Group(int first, int count, int t, int frames, long area) {
        long plane(int channel) {
            return (long) (first + channel) * frames + t;
        }
    }

    private record Moments(double mean, double variance) {
    }

    private static Moments moments(Rows planes, Group g, Scratch scratch) {
        double sum = 0;
        for (int c = 0; c < g.count; c++) {
            for (long at = 0; at < g.area; at += Blocks.SIZE) {
                int n = (int) Math.min(Blocks.SIZE, g.area - at);
                float[] a = read(planes, g.plane(c), at, n, scratch);
                sum += VectorLoops.sum(a, 0, n);
            }
        }
        double mean = sum / (g.count * (double) g.area);
        double squares = 0;
        for (int c = 0; c < g.count; c++) {
            for (long at = 0; at < g.area; at += Blocks.SIZE) {
                int n = (int) Math.min(Blocks.SIZE, g.area - at);
                float[] a = read(planes, g.plane(c), at, n, scratch);
                PlainLoops.subtract(a, 0, n, (float) mean);
                squares += VectorLoops.sumOfSquares(a, 0, n);
            }
        }
        return new Moments(mean, squares / (g.count * (double) g.area));
    }

    private static void normalise(Rows planes, Rows to, Group g, int c, float mean, float inverse, float weight, float bias,
                                  boolean silu, Scratch scratch) {
        for (long at = 0; at < g.area; at += Blocks.SIZE) {
            int n = (int) Math.min(Blocks.SIZE, g.area - at);
            float[] a = read(planes, g.plane(c), at, n, scratch);
            for (int i = 0; i < n; i++) {
                float scaled = (a[i] - mean) * inverse * weight;
                a[i] = scaled + bias;
            }
            if (silu) {
                VectorLoops.silu(a, n);
            }
            to.write(scratch, g.plane(c), 1, at, n, a, n);
        }
    }

    private static float[] read(Rows planes, long plane, long at, int n, Scratch scratch) {
        float[] a = scratch.floats(0, n);
        planes.read(scratch, plane, 1, at, n, a, n);
        return a;
    }
}

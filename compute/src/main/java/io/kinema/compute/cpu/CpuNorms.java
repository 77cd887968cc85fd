package io.kinema.compute.cpu;

import io.kinema.compute.NormOps;
import io.kinema.compute.Tensor;
import java.util.Arrays;
import java.util.Optional;

/** Normalisation of rows, block by block through heap arrays. */
final class CpuNorms implements NormOps {
    private final WorkerPool pool;
    private final GroupNorm groupNorm;

    CpuNorms(WorkerPool pool) {
        this.pool = pool;
        this.groupNorm = new GroupNorm(pool);
    }

    /** Changes the row that starts at {@code a[at]}. */
    private interface RowKernel {
        void apply(float[] a, int at);
    }

    private void forEachRow(Tensor x, Tensor out, RowKernel kernel) {
        Rows in = Rows.of(x);
        Rows to = Rows.of(out);
        Blocks blocks = Blocks.ofWholeRows(in.count(), in.width());
        int d = Math.toIntExact(in.width());
        pool.run(blocks.count(), (i, scratch) -> {
            int rows = blocks.rowCount(i);
            float[] a = scratch.floats(0, rows * d);
            in.read(scratch, blocks.row(i), rows, a);
            for (int r = 0; r < rows; r++) {
                kernel.apply(a, r * d);
            }
            to.write(scratch, blocks.row(i), rows, a);
        });
    }

    @Override
    public void rmsNorm(Tensor x, Optional<Tensor> weight, float eps, Tensor out) {
        float[] w = ones(weight, x.size(-1));
        forEachRow(x, out, (a, at) -> rms(a, at, w, eps));
    }

    /** {@code a = a * rsqrt(mean(a^2) + eps) * w}, two roundings. */
    private static void rms(float[] a, int at, float[] w, float eps) {
        int d = w.length;
        float inverse = inverseRoot(VectorLoops.sumOfSquares(a, at, d), d, eps);
        VectorLoops.scaleByRow(a, at, inverse, w, d);
    }

    static float inverseRoot(double squares, double count, float eps) {
        return (float) (1 / Math.sqrt(squares / count + eps));
    }

    @Override
    public void rmsNormModulate(Tensor x, Tensor weight, float eps, RowModulation modulation, Tensor out) {
        Rows in = Rows.of(x);
        Rows to = Rows.of(out);
        float[] w = weight.toFloats();
        RowTable shifts = RowTable.of(modulation.shift(), Optional.of(modulation.rowIndex()));
        RowTable scales = RowTable.of(modulation.scale(), Optional.of(modulation.rowIndex()));
        Blocks blocks = Blocks.ofWholeRows(in.count(), in.width());
        int d = w.length;
        pool.run(blocks.count(), (i, scratch) -> {
            int rows = blocks.rowCount(i);
            float[] a = scratch.floats(0, rows * d);
            float[] shift = scratch.floats(1, d);
            float[] scale = scratch.floats(2, d);
            in.read(scratch, blocks.row(i), rows, a);
            long loaded = -1;
            for (int r = 0; r < rows; r++) {
                long row = blocks.row(i) + r;
                scales.load(scratch, row, loaded, scale);
                loaded = shifts.load(scratch, row, loaded, shift);
                rms(a, r * d, w, eps);
                VectorLoops.modulate(a, r * d, scale, shift, d);
            }
            to.write(scratch, blocks.row(i), rows, a);
        });
    }

    @Override
    public void layerNorm(Tensor x, Optional<Tensor> weight, Optional<Tensor> bias, float eps, Tensor out) {
        int d = x.size(-1);
        float[] w = ones(weight, d);
        float[] b = bias.map(Tensor::toFloats).orElseGet(() -> new float[d]);
        forEachRow(x, out, (a, at) -> {
            PlainLoops.subtract(a, at, d, VectorLoops.sum(a, at, d) / d);
            float inverse = inverseRoot(VectorLoops.sumOfSquares(a, at, d), d, eps);
            for (int i = 0; i < d; i++) {
                float scaled = a[at + i] * inverse * w[i];
                a[at + i] = scaled + b[i];
            }
        });
    }

    @Override
    public void groupNormPerFrame(Tensor x, int groups, Tensor weight, Tensor bias, float eps, boolean silu, Tensor out) {
        groupNorm.perFrame(x, groups, weight.toFloats(), bias.toFloats(), eps, silu, out);
    }

    @Override
    public void headNormRotary(Tensor x, Optional<HeadNorm> norm, Optional<Rotary> rotary, Tensor out) {
        Rows in = Rows.ofTokens(x);
        Rows to = Rows.ofTokens(out);
        int heads = x.size(1);
        int d = x.size(2);
        Optional<float[]> w = norm.map(n -> ones(n.weight(), d));
        Optional<RotaryRows> tables = rotary.map(r -> new RotaryRows(Rows.of(r.cos()), Rows.of(r.sin()), r.cos().size(1)));
        int tokensEach = Math.max(1, Blocks.SIZE / Math.max(1, heads * d));
        int tokens = x.size(0);
        pool.run(Math.ceilDiv(tokens, tokensEach), (i, scratch) -> {
            int first = i * tokensEach;
            int count = Math.min(tokensEach, tokens - first);
            float[] a = scratch.floats(0, count * heads * d);
            in.readTokens(scratch, first, count, heads, a);
            w.ifPresent(weights -> {
                for (int r = 0; r < count * heads; r++) {
                    rms(a, r * d, weights, norm.get().eps());
                }
            });
            tables.ifPresent(t -> t.rotate(scratch, first, count, heads, d, a));
            to.writeTokens(scratch, first, count, heads, a);
        });
    }

    private static float[] ones(Optional<Tensor> weight, int d) {
        return weight.map(Tensor::toFloats).orElseGet(() -> {
            float[] ones = new float[d];
            Arrays.fill(ones, 1);
            return ones;
        });
    }

    /** The tables of a rotary embedding. */
    private record RotaryRows(Rows cos, Rows sin, int rotated) {

        void rotate(Scratch scratch, int first, int count, int heads, int d, float[] a) {
            float[] c = scratch.floats(1, count * rotated);
            float[] s = scratch.floats(2, count * rotated);
            cos.read(scratch, first, count, c);
            sin.read(scratch, first, count, s);
            for (int t = 0; t < count; t++) {
                for (int h = 0; h < heads; h++) {
                    VectorLoops.rotate(a, (t * heads + h) * d, c, s, t * rotated, rotated / 2);
                }
            }
        }
    }
}

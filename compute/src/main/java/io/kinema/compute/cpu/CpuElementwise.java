package io.kinema.compute.cpu;

import io.kinema.compute.ElementwiseOps;
import io.kinema.compute.ErrorFunction;
import io.kinema.compute.Tensor;
import java.util.Optional;

/** Element-wise operations: block by block through heap arrays. */
final class CpuElementwise implements ElementwiseOps {
    private final WorkerPool pool;

    CpuElementwise(WorkerPool pool) {
        this.pool = pool;
    }

    /** Changes the first n values of an array. */
    private interface Unary {
        void apply(float[] a, int n);
    }

    /** Changes the first n values of {@code a} with those of {@code b}. */
    private interface Binary {
        void apply(float[] a, float[] b, int n);
    }

    private void map(Tensor x, Tensor out, Unary f) {
        boolean flat = x.contiguous() && out.contiguous();
        Rows in = flat ? Rows.flat(x) : Rows.of(x);
        Rows to = flat ? Rows.flat(out) : Rows.of(out);
        Blocks blocks = Blocks.of(in.count(), in.width());
        pool.run(blocks.count(), (i, scratch) -> {
            int n = blocks.rowCount(i) * blocks.columnCount(i);
            float[] a = scratch.floats(0, n);
            in.read(scratch, blocks.row(i), blocks.rowCount(i), blocks.column(i), blocks.columnCount(i), a, blocks.columnCount(i));
            f.apply(a, n);
            to.write(scratch, blocks.row(i), blocks.rowCount(i), blocks.column(i), blocks.columnCount(i), a, blocks.columnCount(i));
        });
    }

    private void map(Tensor x, Tensor y, Tensor out, Binary f) {
        boolean flat = x.contiguous() && y.contiguous() && out.contiguous();
        Rows left = flat ? Rows.flat(x) : Rows.of(x);
        Rows right = flat ? Rows.flat(y) : Rows.of(y);
        Rows to = flat ? Rows.flat(out) : Rows.of(out);
        Blocks blocks = Blocks.of(left.count(), left.width());
        pool.run(blocks.count(), (i, scratch) -> {
            int n = blocks.rowCount(i) * blocks.columnCount(i);
            float[] a = scratch.floats(0, n);
            float[] b = scratch.floats(1, n);
            left.read(scratch, blocks.row(i), blocks.rowCount(i), blocks.column(i), blocks.columnCount(i), a, blocks.columnCount(i));
            right.read(scratch, blocks.row(i), blocks.rowCount(i), blocks.column(i), blocks.columnCount(i), b, blocks.columnCount(i));
            f.apply(a, b, n);
            to.write(scratch, blocks.row(i), blocks.rowCount(i), blocks.column(i), blocks.columnCount(i), a, blocks.columnCount(i));
        });
    }

    @Override
    public void swiglu(Tensor gate, Tensor up, Tensor out) {
        map(gate, up, out, VectorLoops::swiglu);
    }

    @Override
    public void geglu(Tensor gate, Tensor up, Tensor out) {
        map(gate, up, out, VectorLoops::geglu);
    }

    @Override
    public void silu(Tensor x, Tensor out) {
        map(x, out, VectorLoops::silu);
    }

    @Override
    public void geluTanh(Tensor x, Tensor out) {
        map(x, out, VectorLoops::geluTanh);
    }

    @Override
    public void geluErf(Tensor x, Tensor out) {
        map(x, out, (a, n) -> {
            for (int i = 0; i < n; i++) {
                a[i] = ErrorFunction.gelu(a[i]);
            }
        });
    }

    @Override
    public void add(Tensor a, Tensor b, Tensor out) {
        map(a, b, out, PlainLoops::add);
    }

    @Override
    public void scale(Tensor x, float factor, Tensor out) {
        map(x, out, (a, n) -> PlainLoops.scale(a, 0, n, factor));
    }

    @Override
    public void addScaled(Tensor x, float factor, Tensor out) {
        map(out, x, out, (sum, delta, n) -> VectorLoops.addScaled(sum, delta, factor, n));
    }

    @Override
    public void clamp(Tensor x, float low, float high, Tensor out) {
        map(x, out, (a, n) -> PlainLoops.clamp(a, n, low, high));
    }

    @Override
    public void gatedResidualAdd(Tensor residual, Tensor x, Optional<RowGate> gate) {
        if (gate.isEmpty()) {
            map(residual, x, residual, PlainLoops::add);
            return;
        }
        Rows sum = Rows.of(residual);
        Rows in = Rows.of(x);
        RowTable table = RowTable.of(gate.get().table(), gate.get().rowIndex());
        Blocks blocks = Blocks.ofWholeRows(sum.count(), sum.width());
        int d = Math.toIntExact(sum.width());
        pool.run(blocks.count(), (i, scratch) -> {
            int rows = blocks.rowCount(i);
            float[] a = scratch.floats(0, rows * d);
            float[] b = scratch.floats(1, rows * d);
            float[] factors = scratch.floats(2, d);
            sum.read(scratch, blocks.row(i), rows, a);
            in.read(scratch, blocks.row(i), rows, b);
            long loaded = -1;
            for (int r = 0; r < rows; r++) {
                loaded = table.load(scratch, blocks.row(i) + r, loaded, factors);
                VectorLoops.addProduct(a, b, r * d, factors, d);
            }
            sum.write(scratch, blocks.row(i), rows, a);
        });
    }

    @Override
    public void snake(Tensor x, Tensor alpha, Tensor invBeta, Tensor out) {
        Rows in = Rows.of(x);
        Rows to = Rows.of(out);
        float[] a = alpha.toFloats();
        float[] b = invBeta.toFloats();
        Blocks blocks = Blocks.of(in.count(), in.width());
        pool.run(blocks.count(), (i, scratch) -> {
            int rows = blocks.rowCount(i);
            int n = blocks.columnCount(i);
            int pitch = Lanes.roundUp(n);
            float[] values = scratch.floats(0, rows * pitch);
            in.read(scratch, blocks.row(i), rows, blocks.column(i), n, values, pitch);
            for (int r = 0; r < rows; r++) {
                int channel = (int) ((blocks.row(i) + r) % a.length);
                PlainLoops.snake(values, r * pitch, n, a[channel], b[channel]);
            }
            to.write(scratch, blocks.row(i), rows, blocks.column(i), n, values, pitch);
        });
    }

    @Override
    public void channelAffine(Tensor x, Tensor scale, Tensor shift, Tensor out) {
        Rows in = Rows.of(x);
        Rows to = Rows.of(out);
        float[] factors = scale.toFloats();
        float[] terms = shift.toFloats();
        boolean vector = x.rank() == 1;
        long rowsPerChannel = vector ? 1 : in.count() / Math.max(1, factors.length);
        Blocks blocks = Blocks.of(in.count(), in.width());
        pool.run(blocks.count(), (i, scratch) -> {
            int rows = blocks.rowCount(i);
            int n = blocks.columnCount(i);
            float[] values = scratch.floats(0, rows * n);
            in.read(scratch, blocks.row(i), rows, blocks.column(i), n, values, n);
            for (int r = 0; r < rows * (vector ? n : 1); r++) {
                int channel = (int) (vector ? blocks.column(i) + r : (blocks.row(i) + r) / rowsPerChannel);
                PlainLoops.affine(values, vector ? r : r * n, vector ? 1 : n, factors[channel], terms[channel]);
            }
            to.write(scratch, blocks.row(i), rows, blocks.column(i), n, values, n);
        });
    }
}

package io.kinema.compute.cpu;

import io.kinema.compute.MoveOps;
import io.kinema.compute.Tensor;
import io.kinema.weights.DType;
import java.util.stream.IntStream;

/** Copies, gathers and blends on host memory. */
final class CpuMoves implements MoveOps {
    private final WorkerPool pool;
    private final StridedCopy strided;

    CpuMoves(WorkerPool pool) {
        this.pool = pool;
        this.strided = new StridedCopy(pool);
    }

    @Override
    public void copy(Tensor src, Tensor dst) {
        if (src.elements() == 0) {
            return;
        }
        if (src.dtype() == dst.dtype() || src.dtype() == DType.F64 || dst.dtype() == DType.F64 || !rowsWithin(src, dst)) {
            strided.copy(src, dst);
        } else {
            convert(src, dst);
        }
    }

    private static boolean rowsWithin(Tensor src, Tensor dst) {
        return src.rank() > 0 && (src.size(-1) == 1 || src.stride(-1) == 1 && dst.stride(-1) == 1);
    }

    private void convert(Tensor src, Tensor dst) {
        boolean flat = src.contiguous() && dst.contiguous();
        Rows from = flat ? Rows.flat(src) : Rows.of(src);
        Rows to = flat ? Rows.flat(dst) : Rows.of(dst);
        Blocks blocks = Blocks.of(from.count(), from.width());
        pool.run(blocks.count(), (i, scratch) -> {
            int columns = blocks.columnCount(i);
            float[] a = scratch.floats(0, blocks.rowCount(i) * columns);
            from.read(scratch, blocks.row(i), blocks.rowCount(i), blocks.column(i), columns, a, columns);
            to.write(scratch, blocks.row(i), blocks.rowCount(i), blocks.column(i), columns, a, columns);
        });
    }

    @Override
    public void fill(Tensor dst, float value) {
        if (dst.elements() > 0) {
            strided.fill(dst, value);
        }
    }

    @Override
    public void gatherRows(Tensor src, Tensor index, Tensor dst) {
        for (int m = 0; m < dst.size(0); m++) {
            long row = index.data().get(Rows.I32, (long) m * Integer.BYTES);
            copyRow(src.rows(row, row + 1), dst.rows(m, m + 1L));
        }
    }

    @Override
    public void scatterRows(Tensor src, Tensor index, Tensor dst) {
        for (int m = 0; m < src.size(0); m++) {
            long row = index.data().get(Rows.I32, (long) m * Integer.BYTES);
            copyRow(src.rows(m, m + 1L), dst.rows(row, row + 1));
        }
    }

    private void copyRow(Tensor src, Tensor dst) {
        copy(src, dst);
    }

    @Override
    public void crossFade(Tensor a, Tensor b, int dim, Tensor out) {
        int axis = dim < 0 ? a.rank() + dim : dim;
        int n = a.size(axis);
        float[] ramp = new float[n];
        IntStream.range(0, n).forEach(i -> ramp[i] = (float) i / n);
        boolean along = axis == a.rank() - 1;
        long rowsPerStep = 1;
        for (int i = axis + 1; i < a.rank() - 1; i++) {
            rowsPerStep *= a.size(i);
        }
        long inner = rowsPerStep;
        Rows left = Rows.of(a);
        Rows right = Rows.of(b);
        Rows to = Rows.of(out);
        Blocks blocks = Blocks.of(left.count(), left.width());
        pool.run(blocks.count(), (i, scratch) -> {
            int rows = blocks.rowCount(i);
            int columns = blocks.columnCount(i);
            float[] x = scratch.floats(0, rows * columns);
            float[] y = scratch.floats(1, rows * columns);
            left.read(scratch, blocks.row(i), rows, blocks.column(i), columns, x, columns);
            right.read(scratch, blocks.row(i), rows, blocks.column(i), columns, y, columns);
            for (int r = 0; r < rows; r++) {
                int step = along ? 0 : (int) ((blocks.row(i) + r) / inner % n);
                blend(x, y, r * columns, columns, ramp, along ? (int) blocks.column(i) : step, along ? 1 : 0);
            }
            to.write(scratch, blocks.row(i), rows, blocks.column(i), columns, x, columns);
        });
    }

    /** {@code x = x * (1 - ramp) + y * ramp}; the ramp advances by {@code advance} per element. */
    private static void blend(float[] x, float[] y, int at, int n, float[] ramp, int first, int advance) {
        for (int i = 0; i < n; i++) {
            float f = ramp[first + i * advance];
            float fading = x[at + i] * (1 - f);
            float rising = y[at + i] * f;
            x[at + i] = fading + rising;
        }
    }
}

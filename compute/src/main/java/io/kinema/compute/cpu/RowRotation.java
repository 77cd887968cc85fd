package io.kinema.compute.cpu;

import io.kinema.compute.Rotation;
import io.kinema.compute.Tensor;

/**
 * Multiplies groups of values by the regular Hadamard matrix as a butterfly: one pass for each factor H4, the nearest
 * neighbours first, then the exact factor. Every sum is of two FP32 values.
 */
final class RowRotation {
    private final WorkerPool pool;

    RowRotation(WorkerPool pool) {
        this.pool = pool;
    }

    /** {@code to = from R} row by row; same dtype and shape. */
    void apply(Tensor from, Rotation rotation, Tensor to) {
        Rows in = Rows.of(from);
        Rows out = Rows.of(to);
        int k = from.size(1);
        Blocks blocks = Blocks.ofWholeRows(in.count(), k);
        pool.run(blocks.count(), (i, scratch) -> {
            int rows = blocks.rowCount(i);
            float[] a = scratch.floats(0, rows * k);
            in.read(scratch, blocks.row(i), rows, a);
            rotate(a, rows * k, rotation);
            out.write(scratch, blocks.row(i), rows, a);
        });
    }

    private static void rotate(float[] a, int n, Rotation rotation) {
        for (int step = 1; step < rotation.group(); step *= 4) {
            for (int at = 0; at < n; at += 4 * step) {
                stage(a, at, step);
            }
        }
        PlainLoops.scale(a, 0, n, rotation.factor());
    }

    /** H4 on the four quarters of {@code 4 * step} values. */
    private static void stage(float[] a, int at, int step) {
        for (int i = at; i < at + step; i++) {
            float x0 = a[i];
            float x1 = a[i + step];
            float x2 = a[i + 2 * step];
            float x3 = a[i + 3 * step];
            float sum = x0 + x1;
            float rest = x0 - x1;
            float tail = x2 + x3;
            float fall = x2 - x3;
            a[i] = sum + fall;
            a[i + step] = sum - fall;
            a[i + 2 * step] = tail + rest;
            a[i + 3 * step] = tail - rest;
        }
    }
}

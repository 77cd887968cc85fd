package io.kinema.compute.cpu;

import io.kinema.compute.Tensor;
import java.lang.foreign.MemorySegment;

/** Packs tensors of any float type into dense FP32 memory, in parallel. */
final class Widening {
    private final WorkerPool pool;

    Widening(WorkerPool pool) {
        this.pool = pool;
    }

    /** Writes the rows of {@code t}, widened, one behind the other to {@code to}. */
    void rows(Tensor t, MemorySegment to) {
        Rows from = t.contiguous() ? Rows.flat(t) : Rows.of(t);
        Blocks blocks = Blocks.of(from.count(), from.width());
        pool.run(blocks.count(), (i, scratch) -> {
            int columns = blocks.columnCount(i);
            int n = blocks.rowCount(i) * columns;
            float[] a = scratch.floats(0, n);
            from.read(scratch, blocks.row(i), blocks.rowCount(i), blocks.column(i), columns, a, columns);
            long at = blocks.row(i) * from.width() + blocks.column(i);
            MemorySegment.copy(a, 0, to, Rows.F32, at * Float.BYTES, n);
        });
    }
}

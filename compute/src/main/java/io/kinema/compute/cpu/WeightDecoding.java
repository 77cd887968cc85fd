package io.kinema.compute.cpu;

import io.kinema.compute.EncodedWeight;
import io.kinema.compute.Int8Weight;
import io.kinema.weights.DType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Decodes rows of weights to dense FP32 memory, in parallel, rounded as a product with operands of a dtype reads them. */
final class WeightDecoding {
    private final WorkerPool pool;

    WeightDecoding(WorkerPool pool) {
        this.pool = pool;
    }

    /** Writes rows [first, last) of {@code w} one behind the other to {@code to}. */
    void rows(Int8Weight w, int first, int last, DType operand, MemorySegment to) {
        int k = w.inFeatures();
        MemorySegment values = w.values().data();
        run(last - first, k, operand, to, (row, rows, a, scratch) -> {
            byte[] bytes = scratch.bytes(k);
            for (int r = 0; r < rows; r++) {
                int n = first + row + r;
                MemorySegment.copy(values, ValueLayout.JAVA_BYTE, n * w.values().stride(0), bytes, 0, k);
                float scale = w.scales().data().get(Rows.F32, n * w.scales().stride(0) * Float.BYTES);
                PlainLoops.scaled(bytes, k, scale, a, r * k);
            }
        });
    }

    /** Writes rows [first, last) of {@code w} one behind the other to {@code to}. */
    void rows(EncodedWeight w, int first, int last, DType operand, MemorySegment to) {
        run(last - first, w.inFeatures(), operand, to, (row, rows, a, _) -> w.matrix().decode(first + row, first + row + (long) rows, a, 0));
    }

    /** Writes {@code rows} rows from {@code row} on to the start of {@code a}. */
    @FunctionalInterface
    private interface Decoder {
        void decode(int row, int rows, float[] a, Scratch scratch);
    }

    private void run(int count, int k, DType operand, MemorySegment to, Decoder decoder) {
        Blocks blocks = Blocks.ofWholeRows(count, k);
        pool.run(blocks.count(), (i, scratch) -> {
            int row = (int) blocks.row(i);
            int n = blocks.rowCount(i) * k;
            float[] a = scratch.floats(0, n);
            decoder.decode(row, blocks.rowCount(i), a, scratch);
            Halves.round(operand, a, n, scratch);
            MemorySegment.copy(a, 0, to, Rows.F32, (long) row * k * Float.BYTES, n);
        });
    }
}

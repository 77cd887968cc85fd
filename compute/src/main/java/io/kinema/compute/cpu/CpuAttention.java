package io.kinema.compute.cpu;

import io.kinema.compute.AttentionOps;
import io.kinema.compute.Tensor;
import io.kinema.weights.DType;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Attention by tiles of query rows: a matrix product gives a tile of scores that stays in the second-level cache, vector
 * code turns it into exponentials, a second product weighs the values. Long key sequences go block by block with a running
 * largest score and sum (online softmax), so memory does not grow with the sequence.
 * Owns scratch for widened operands until it is closed.
 */
final class CpuAttention implements AttentionOps, AutoCloseable {
    private static final int QUERY_ROWS = 240;
    private static final int KEY_ROWS = 1024;
    private static final int UNIT = 16;

    private final WorkerPool pool;
    private final Widening widening;
    private final Scratch shared = new Scratch();

    CpuAttention(WorkerPool pool) {
        this.pool = pool;
        this.widening = new Widening(pool);
    }

    /** Bytes of its own scratch memory. */
    long scratchBytes() {
        return shared.size();
    }

    @Override
    public void close() {
        shared.close();
    }

    @Override
    public void attention(Tensor q, Tensor k, Tensor v, float scale, boolean causal, Tensor out) {
        if (q.elements() == 0) {
            return;
        }
        Heads queries = heads(q, 0);
        Heads keys = heads(k, 1);
        Heads values = heads(v, 2);
        Geometry g = Geometry.of(q, k, scale, causal);
        Rows to = Rows.of(out);
        pool.run(g.tiles() * g.heads, (i, scratch) ->
                new Tile(g, queries, keys, values, i % g.heads, i / g.heads * g.queriesEach, scratch).run(to));
    }

    private Heads heads(Tensor t, int slot) {
        boolean readable = t.dtype() == DType.F32 && (t.size(0) <= 1 || t.stride(0) >= t.size(2)) && t.stride(1) >= 0;
        if (readable) {
            return new Heads(t.data(), t.stride(1), Matrix.pitch(t.size(0), t.stride(0), Math.max(1, t.size(2))));
        }
        MemorySegment wide = shared.block(slot, t.elements());
        widening.rows(t, wide);
        return new Heads(wide, t.size(2), Math.max(1, t.size(1) * t.size(2)));
    }

    /** Rows of every head: head h starts at {@code h * headStride}, rows are {@code ld} floats apart. */
    private record Heads(MemorySegment data, long headStride, int ld) {
        MemorySegment from(int head, int row) {
            return data.asSlice((head * headStride + (long) row * ld) * Float.BYTES);
        }
    }

    private record Geometry(int m, int n, int heads, int kvHeads, int d, float scale, boolean causal, int queriesEach, int keysEach) {
        static Geometry of(Tensor q, Tensor k, float scale, boolean causal) {
            return new Geometry(q.size(0), k.size(0), q.size(1), k.size(1), q.size(2), scale, causal,
                    share(q.size(0), QUERY_ROWS), share(k.size(0), KEY_ROWS));
        }

        /** Equal parts of at most {@code most}, on whole register tiles. */
        private static int share(int size, int most) {
            int each = Math.ceilDiv(size, Math.ceilDiv(size, most));
            return Math.ceilDiv(each, UNIT) * UNIT;
        }

        int tiles() {
            return Math.ceilDiv(m, queriesEach);
        }

        /** Keys that query row {@code row} sees. */
        int visible(int row) {
            return causal ? Math.clamp(row + 1L + n - m, 0, n) : n;
        }
    }

    /** One head's query rows [first, first + rows). */
    private static final class Tile {
        private final Geometry g;
        private final Heads keys;
        private final Heads values;
        private final Scratch scratch;
        private final int head;
        private final int kvHead;
        private final int first;
        private final int rows;
        private final MemorySegment queries;
        private final int queryPitch;
        private final float[] sums;
        private final float[] largest;
        private final float[] sum;

        Tile(Geometry g, Heads queries, Heads keys, Heads values, int head, int first, Scratch scratch) {
            this.g = g;
            this.keys = keys;
            this.values = values;
            this.scratch = scratch;
            this.head = head;
            this.kvHead = head * g.kvHeads / g.heads;
            this.first = first;
            this.rows = Math.min(g.queriesEach, g.m - first);
            this.queries = queries.from(head, first);
            this.queryPitch = queries.ld;
            this.sums = scratch.floats(1, rows * g.d);
            this.largest = scratch.floats(2, rows);
            this.sum = scratch.floats(3, rows);
        }

        void run(Rows out) {
            Arrays.fill(sums, 0, rows * g.d, 0);
            Arrays.fill(largest, 0, rows, Float.NEGATIVE_INFINITY);
            Arrays.fill(sum, 0, rows, 0);
            int seen = g.visible(first + rows - 1);
            for (int key = 0; key < seen; key += g.keysEach) {
                block(key, Math.min(g.keysEach, seen - key));
            }
            for (int r = 0; r < rows; r++) {
                PlainLoops.scale(sums, r * g.d, g.d, sum[r] == 0 ? 0 : 1 / sum[r]);
                out.writeRow(scratch, (long) (first + r) * g.heads + head, sums, r * g.d);
            }
        }

        /** Adds keys [key, key + count). */
        private void block(int key, int count) {
            MemorySegment scores = scratch.block(0, (long) rows * count);
            MemorySegment products = scratch.block(1, (long) rows * g.d);
            float[] keep = scratch.floats(4, rows);
            OpenBlas.sgemm(true, rows, count, g.d, g.scale, queries, queryPitch, keys.from(kvHead, key), keys.ld, 0, scores, count);
            for (int r = 0; r < rows; r++) {
                keep[r] = exponentials(scores, r, count, Math.clamp(g.visible(first + r) - key, 0, count));
            }
            OpenBlas.sgemm(false, rows, g.d, count, 1, scores, count, values.from(kvHead, key), values.ld, 0, products, g.d);
            float[] added = scratch.floats(0, rows * g.d);
            MemorySegment.copy(products, Rows.F32, 0, added, 0, rows * g.d);
            for (int r = 0; r < rows; r++) {
                for (int i = r * g.d; i < (r + 1) * g.d; i++) {
                    sums[i] = sums[i] * keep[r] + added[i];
                }
            }
        }

        /**
         * Replaces row r of the scores by exponentials relative to the largest score so far.
         *
         * @return the factor by which earlier sums of this row shrink
         */
        private float exponentials(MemorySegment scores, int r, int count, int visible) {
            float[] row = scratch.floats(0, count);
            long at = (long) r * count * Float.BYTES;
            MemorySegment.copy(scores, Rows.F32, at, row, 0, visible);
            float before = largest[r];
            float top = VectorLoops.largest(row, visible);
            largest[r] = top > before ? top : before;
            float keep = before == Float.NEGATIVE_INFINITY ? 0 : (float) Math.exp(before - largest[r]);
            sum[r] = sum[r] * keep + VectorLoops.expAndSum(row, visible, largest[r]);
            Arrays.fill(row, visible, count, 0);
            MemorySegment.copy(row, 0, scores, Rows.F32, at, count);
            return keep;
        }
    }
}

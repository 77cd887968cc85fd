package io.kinema.compute.cpu;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Measures what matrix products reach on this machine, as the yardstick for the networks. */
final class SgemmRate {
    private static final int SIZE = 1024;

    private SgemmRate() {
    }

    /** Products of 1024^3, one per thread at a time, for about {@code seconds}; FLOP/s of the best round. */
    static double measure(WorkerPool pool, double seconds) {
        try (Arena arena = Arena.ofShared()) {
            int threads = pool.threads();
            long bytes = (long) SIZE * SIZE * Float.BYTES;
            MemorySegment a = ones(arena.allocate(bytes, 64));
            MemorySegment b = ones(arena.allocate(bytes, 64));
            MemorySegment c = arena.allocate(bytes * threads, 64);
            double best = 0;
            long end = System.nanoTime() + (long) (seconds * 1e9);
            do {
                long start = System.nanoTime();
                pool.run(threads, (i, scratch) -> OpenBlas.sgemm(true, SIZE, SIZE, SIZE, 1, a, SIZE, b, SIZE, 0, c.asSlice(i * bytes), SIZE));
                best = Math.max(best, 2.0 * SIZE * SIZE * SIZE * threads / ((System.nanoTime() - start) / 1e9));
            } while (System.nanoTime() < end);
            return best;
        }
    }

    private static MemorySegment ones(MemorySegment matrix) {
        for (long i = 0; i < matrix.byteSize(); i += Float.BYTES) {
            matrix.set(Rows.F32, i, 1);
        }
        return matrix;
    }
}

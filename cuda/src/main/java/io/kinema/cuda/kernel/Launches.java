package io.kinema.cuda.kernel;

import io.kinema.cuda.driver.GpuFunction.Grid;

/** The launch rules of the kernel table: E, R and L. */
public final class Launches {
    private static final int VECTOR = 8;
    private static final int BLOCK = 256;
    private static final long MOST_ROWS = 65535;

    private Launches() {
    }

    /** E: element-wise over rows. */
    public static Grid elements(long rows, long width) {
        long vectors = Math.ceilDiv(width, VECTOR);
        int x = (int) Math.min(BLOCK, Long.highestOneBit(Math.max(1, 2 * vectors - 1)));
        int y = BLOCK / x;
        return new Grid(Math.toIntExact(Math.ceilDiv(vectors, x)), (int) Math.min(MOST_ROWS, Math.ceilDiv(rows, y)), 1, x, y);
    }

    /** R: one block a row. */
    public static Grid rows(long rows, long width) {
        long vectors = Math.ceilDiv(width, VECTOR);
        long passes = Math.ceilDiv(vectors, BLOCK);
        int threads = (int) (32 * Math.ceilDiv(Math.ceilDiv(vectors, passes), 32));
        return Grid.of(rows, threads);
    }

    /** L: a loop over n things. */
    public static Grid loop(long n) {
        return Grid.of(Math.min(Math.ceilDiv(n, BLOCK), 1L << 20), BLOCK);
    }
}

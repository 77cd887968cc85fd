package io.kinema.compute.cpu;

/**
 * Cuts an m x n matrix product into tiles, by shape only. Large tiles waste less on packing (OpenBLAS packs both operands
 * for each call), small ones balance better.
 */
record GemmTiles(int m, int n, int rowsEach, int columnsEach) {
    private static final double FLOPS_EACH = 48e6;
    private static final int MOST_TILES = 1 << 16;
    private static final int MOST_ROWS = 480;
    private static final int MOST_COLUMNS = 1024;
    /** A tile is not cut below this. */
    private static final int FEWEST = 192;
    /** Tile edges fall on whole register tiles of the usual kernels. */
    private static final int UNIT = 16;

    static GemmTiles of(int m, int n, int k) {
        int down = Math.max(1, Math.ceilDiv(m, MOST_ROWS));
        int across = Math.max(1, Math.ceilDiv(n, MOST_COLUMNS));
        int wanted = wanted(2.0 * m * n * k);
        while (down * across < wanted) {
            int rows = m / (down + 1);
            int columns = n / (across + 1);
            if (Math.max(rows, columns) < FEWEST) {
                break;
            }
            if (rows >= columns) {
                down++;
            } else {
                across++;
            }
        }
        return new GemmTiles(m, n, share(m, down), share(n, across));
    }

    /** A power of two, which most numbers of threads share evenly; two from half a tile's work on. */
    private static int wanted(double flops) {
        int tiles = (int) Math.clamp(flops / FLOPS_EACH, 1, MOST_TILES);
        return tiles == 1 && 2 * flops >= FLOPS_EACH ? 2 : Integer.highestOneBit(tiles);
    }

    private static int share(int size, int parts) {
        return Math.max(UNIT, Math.ceilDiv(Math.ceilDiv(size, parts), UNIT) * UNIT);
    }

    int count() {
        return Math.ceilDiv(m, rowsEach) * Math.ceilDiv(n, columnsEach);
    }

    int row(int i) {
        return i / Math.ceilDiv(n, columnsEach) * rowsEach;
    }

    int rowCount(int i) {
        return Math.min(rowsEach, m - row(i));
    }

    int column(int i) {
        return i % Math.ceilDiv(n, columnsEach) * columnsEach;
    }

    int columnCount(int i) {
        return Math.min(columnsEach, n - column(i));
    }
}

package io.kinema.compute.cpu;

/**
 * Cuts rows x width into blocks of about {@link #SIZE} elements: several whole rows, or a piece of one long row.
 * The cut depends on the shape only.
 */
record Blocks(long rows, long width, int rowsEach, int columnsEach) {
    /** 32 KiB of FP32: two such blocks fit the first-level cache of most cores. */
    static final int SIZE = 8192;

    static Blocks of(long rows, long width) {
        if (width >= SIZE) {
            return new Blocks(rows, width, 1, SIZE);
        }
        int columns = Math.max(1, (int) width);
        return new Blocks(rows, width, Math.max(1, SIZE / columns), columns);
    }

    /** Whole rows only, however long: for operations that need all of a row. */
    static Blocks ofWholeRows(long rows, long width) {
        int columns = Math.max(1, Math.toIntExact(width));
        return new Blocks(rows, width, Math.max(1, SIZE / columns), columns);
    }

    int count() {
        return width == 0 ? 0 : Math.toIntExact(Math.ceilDiv(rows, rowsEach) * columnBlocks());
    }

    private long columnBlocks() {
        return Math.ceilDiv(width, columnsEach);
    }

    /** First row of block {@code i}. */
    long row(int i) {
        return i / columnBlocks() * rowsEach;
    }

    int rowCount(int i) {
        return (int) Math.min(rowsEach, rows - row(i));
    }

    /** First column of block {@code i}. */
    long column(int i) {
        return i % columnBlocks() * columnsEach;
    }

    int columnCount(int i) {
        return (int) Math.min(columnsEach, width - column(i));
    }
}

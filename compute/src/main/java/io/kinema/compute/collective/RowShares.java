package io.kinema.compute.collective;

/**
 * How the rows of a matrix are shared out: every rank has room for {@code each} consecutive ones, rank r for [r * each, (r + 1) * each), and
 * holds those of them that there are. The others are padding at the end, so the last ranks may hold fewer rows or none.
 *
 * @param rows  that there are, at least 0
 * @param ranks at least 1
 * @param each  room of a rank; {@code ranks * each} is {@code rows} or more
 */
public record RowShares(int rows, int ranks, int each) {
    public RowShares {
        if (rows < 0 || ranks < 1 || each < 0 || (long) ranks * each < rows || (long) ranks * each > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("row shares: got " + rows + " rows on " + ranks + " ranks of " + each + ", expected room for all");
        }
    }

    /** Rows padded to a multiple of {@code multiple}, and to one of the ranks where that is still needed. */
    public static RowShares padded(int rows, int ranks, int multiple) {
        long padded = Math.ceilDiv((long) rows, multiple) * multiple;
        return new RowShares(rows, ranks, Math.toIntExact(Math.ceilDiv(padded, ranks)));
    }

    /** Rows with padding. */
    public int padded() {
        return ranks * each;
    }

    /** A rank's first row. */
    public int from(int rank) {
        return Math.min(rank * each, rows);
    }

    /** The row after its last. */
    public int to(int rank) {
        return Math.min((rank + 1) * each, rows);
    }

    /** How many it holds. */
    public int count(int rank) {
        return to(rank) - from(rank);
    }
}

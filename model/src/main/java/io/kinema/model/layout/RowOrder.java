package io.kinema.model.layout;

import java.lang.foreign.MemorySegment;
import java.util.OptionalLong;

/** Which rows of a stored matrix, in which order, make a matrix that a network reads. Columns are never moved. */
public sealed interface RowOrder {
    /** All rows as they are. */
    record Same() implements RowOrder {
        @Override
        public long storedRows(long rows) {
            return rows;
        }

        @Override
        public void gather(MemorySegment stored, MemorySegment out) {
            out.copyFrom(stored);
        }

        @Override
        public void scatter(MemorySegment read, MemorySegment stored) {
            stored.copyFrom(read);
        }

        @Override
        public OptionalLong offset(long from, long to, long rows) {
            return OptionalLong.of(0);
        }
    }

    /** The second half of the rows above the first: [gate; value] read as [value; gate]. */
    record SwappedHalves() implements RowOrder {
        @Override
        public long storedRows(long rows) {
            return rows;
        }

        @Override
        public void gather(MemorySegment stored, MemorySegment out) {
            long half = stored.byteSize() / 2;
            out.asSlice(0, half).copyFrom(stored.asSlice(half, half));
            out.asSlice(half, half).copyFrom(stored.asSlice(0, half));
        }

        @Override
        public void scatter(MemorySegment read, MemorySegment stored) {
            gather(read, stored);
        }

        @Override
        public long runEnd(long from, long to, long rows) {
            return from < rows / 2 ? Math.min(to, rows / 2) : to;
        }

        @Override
        public OptionalLong offset(long from, long to, long rows) {
            long half = rows / 2;
            return from < half && to > half ? OptionalLong.empty() : OptionalLong.of(from < half ? half : -half);
        }
    }

    /**
     * Rows stored head by head, each head's q rows, then its k rows, then its v rows; one of the three is read.
     *
     * @param part  0 for q, 1 for k, 2 for v
     * @param heads attention heads; they share the rows equally
     */
    record Interleaved(int part, int heads) implements RowOrder {
        private static final int PARTS = 3;

        @Override
        public long storedRows(long rows) {
            return PARTS * rows;
        }

        @Override
        public void gather(MemorySegment stored, MemorySegment out) {
            long head = out.byteSize() / heads;
            for (int h = 0; h < heads; h++) {
                out.asSlice(h * head, head).copyFrom(stored.asSlice((PARTS * (long) h + part) * head, head));
            }
        }

        @Override
        public void scatter(MemorySegment read, MemorySegment stored) {
            long head = read.byteSize() / heads;
            for (int h = 0; h < heads; h++) {
                stored.asSlice((PARTS * (long) h + part) * head, head).copyFrom(read.asSlice(h * head, head));
            }
        }

        @Override
        public long runEnd(long from, long to, long rows) {
            long head = rows / heads;
            return head == 0 ? to : Math.min(to, (from / head + 1) * head);
        }

        @Override
        public OptionalLong offset(long from, long to, long rows) {
            long head = rows / heads;
            return head > 0 && from < to && from / head == (to - 1) / head
                    ? OptionalLong.of(from / head * head * (PARTS - 1) + part * head) : OptionalLong.empty();
        }
    }

    /**
     * One of several matrices of the same height that are stored one below the other.
     *
     * @param part  which one, from 0
     * @param parts how many there are
     */
    record Stacked(int part, int parts) implements RowOrder {
        @Override
        public long storedRows(long rows) {
            return parts * rows;
        }

        @Override
        public void gather(MemorySegment stored, MemorySegment out) {
            out.copyFrom(stored.asSlice(part * out.byteSize(), out.byteSize()));
        }

        @Override
        public void scatter(MemorySegment read, MemorySegment stored) {
            stored.asSlice(part * read.byteSize(), read.byteSize()).copyFrom(read);
        }

        @Override
        public OptionalLong offset(long from, long to, long rows) {
            return OptionalLong.of(part * rows);
        }
    }

    /** Rows of the stored matrix when {@code rows} are read from it. */
    long storedRows(long rows);

    /**
     * How far below row i of what is read the stored row lies, where that is one number for rows {@code [from, to)}: then they are
     * a view. Empty where their order must be changed.
     *
     * @param rows of the matrix that is read
     */
    OptionalLong offset(long from, long to, long rows);

    /** Where the first run of rows from {@code from} on ends for which {@link #offset} is one number, at most {@code to}. */
    default long runEnd(long from, long to, long rows) {
        return to;
    }

    /** The way back: puts the rows of what is read where they are stored. Both segments hold whole rows of one length. */
    void scatter(MemorySegment read, MemorySegment stored);

    /** Copies the rows that are read. Both segments hold whole rows of one length. */
    void gather(MemorySegment stored, MemorySegment out);
}

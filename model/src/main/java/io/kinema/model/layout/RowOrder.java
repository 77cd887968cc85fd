package io.kinema.model.layout;

import java.lang.foreign.MemorySegment;

/** Which rows of a stored matrix, in which order, make a matrix that a network reads. Columns are never moved. */
sealed interface RowOrder {
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
    }

    /** Rows of the stored matrix when {@code rows} are read from it. */
    long storedRows(long rows);

    /** Copies the rows that are read. Both segments hold whole rows of one length. */
    void gather(MemorySegment stored, MemorySegment out);
}

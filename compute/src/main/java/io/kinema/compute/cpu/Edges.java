package io.kinema.compute.cpu;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/** Reads pieces of a row that may reach beyond its ends. */
final class Edges {
    private Edges() {
    }

    /**
     * {@code to[i] = row[start + i]} for i in [0, n), zeros outside [0, length).
     *
     * @param row element offset of the row in {@code data}
     */
    static void readZeroPadded(MemorySegment data, long row, int length, long start, int n, float[] to) {
        int before = (int) Math.clamp(-start, 0, n);
        int inside = (int) Math.clamp(length - (start + before), 0, n - before);
        Arrays.fill(to, 0, before, 0);
        MemorySegment.copy(data, Rows.F32, (row + start + before) * Float.BYTES, to, before, inside);
        Arrays.fill(to, before + inside, n, 0);
    }

    /** The same with the row's first and last values repeated {@code border} times outside, zeros beyond. */
    static void readReplicated(MemorySegment data, long row, int length, int border, long start, int n, float[] to) {
        readZeroPadded(data, row, length, start, n, to);
        float first = data.get(Rows.F32, row * Float.BYTES);
        float last = data.get(Rows.F32, (row + length - 1) * Float.BYTES);
        Arrays.fill(to, index(-border, start, n), index(0, start, n), first);
        Arrays.fill(to, index(length, start, n), index(length + (long) border, start, n), last);
    }

    private static int index(long position, long start, int n) {
        return (int) Math.clamp(position - start, 0, n);
    }
}

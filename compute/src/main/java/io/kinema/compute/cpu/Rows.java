package io.kinema.compute.cpu;

import io.kinema.compute.Tensor;
import io.kinema.weights.DType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * A tensor seen as rows along its contiguous last axis. Vector loops work on heap arrays that stay in the first-level cache;
 * this class moves blocks between them and the tensor, widening and rounding on the way.
 */
final class Rows {
    static final ValueLayout.OfFloat F32 = ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfShort I16 = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfInt I32 = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final MemorySegment data;
    private final DType dtype;
    private final long width;
    private final long count;
    /** Sizes and strides of the axes before the last, merged where they are regular. */
    private final long[] sizes;
    private final long[] strides;
    /** Whole tokens are rows, see {@link #ofTokens}. */
    private final boolean tokens;

    private Rows(MemorySegment data, DType dtype, long width, long count, long[] sizes, long[] strides, boolean tokens) {
        this.data = data;
        this.dtype = dtype;
        this.width = width;
        this.count = count;
        this.sizes = sizes;
        this.strides = strides;
        this.tokens = tokens;
    }

    /** Rows of the last axis; a scalar is one row of one. */
    static Rows of(Tensor t) {
        int outer = Math.max(0, t.rank() - 1);
        long[] sizes = new long[outer];
        long[] strides = new long[outer];
        int axes = 0;
        long count = 1;
        for (int i = 0; i < outer; i++) {
            long size = t.shape().dim(i);
            count *= size;
            if (axes > 0 && strides[axes - 1] == t.stride(i) * size) {
                sizes[axes - 1] *= size;
                strides[axes - 1] = t.stride(i);
            } else {
                sizes[axes] = size;
                strides[axes++] = t.stride(i);
            }
        }
        long width = t.rank() == 0 ? 1 : t.shape().dim(-1);
        return new Rows(t.data(), t.dtype(), width, count, Arrays.copyOf(sizes, axes), Arrays.copyOf(strides, axes), false);
    }

    /** All elements of a contiguous tensor as one row. */
    static Rows flat(Tensor t) {
        return new Rows(t.data(), t.dtype(), t.elements(), 1, new long[0], new long[0], false);
    }

    /** [M, heads, D] as M rows where the heads of a row lie one behind the other, else as {@link #of}. */
    static Rows ofTokens(Tensor t) {
        if (t.size(1) > 1 && t.stride(1) != t.size(2)) {
            return of(t);
        }
        return new Rows(t.data(), t.dtype(), (long) t.size(1) * t.size(2), t.size(0), new long[] {t.size(0)}, new long[] {t.stride(0)}, true);
    }

    long count() {
        return count;
    }

    long width() {
        return width;
    }

    /** Element offset of a row's first element. */
    long offset(long row) {
        if (sizes.length == 1) {
            return row * strides[0];
        }
        long at = 0;
        long rest = row;
        for (int i = sizes.length - 1; i >= 0; i--) {
            at += rest % sizes[i] * strides[i];
            rest /= sizes[i];
        }
        return at;
    }

    /** Copies columns [column, column + columns) of {@code rows} rows to {@code to}, row r at {@code r * pitch}. */
    void read(Scratch scratch, long row, int rows, long column, int columns, float[] to, int pitch) {
        for (int r = 0; r < rows; ) {
            int merged = merged(row + r, rows - r, columns, pitch);
            readRun(scratch, offset(row + r) + column, merged * columns, to, r * pitch);
            r += merged;
        }
    }

    /** Whole rows, packed. */
    void read(Scratch scratch, long row, int rows, float[] to) {
        read(scratch, row, rows, 0, (int) width, to, (int) width);
    }

    /** The inverse of {@link #read(Scratch, long, int, long, int, float[], int)}, rounding to the tensor's dtype. */
    void write(Scratch scratch, long row, int rows, long column, int columns, float[] from, int pitch) {
        for (int r = 0; r < rows; ) {
            int merged = merged(row + r, rows - r, columns, pitch);
            writeRun(scratch, from, r * pitch, merged * columns, offset(row + r) + column);
            r += merged;
        }
    }

    /** Whole rows, packed. */
    void write(Scratch scratch, long row, int rows, float[] from) {
        write(scratch, row, rows, 0, (int) width, from, (int) width);
    }

    /** Row {@code row} from {@code from[at]} on. */
    void writeRow(Scratch scratch, long row, float[] from, int at) {
        writeRun(scratch, from, at, (int) width, offset(row));
    }

    /** Rows of {@link #ofTokens}: {@code count} tokens of {@code heads} heads, packed. */
    void readTokens(Scratch scratch, long token, int count, int heads, float[] to) {
        int rowsEach = rowsPerToken(heads);
        read(scratch, token * rowsEach, count * rowsEach, to);
    }

    /** The inverse of {@link #readTokens}. */
    void writeTokens(Scratch scratch, long token, int count, int heads, float[] from) {
        int rowsEach = rowsPerToken(heads);
        write(scratch, token * rowsEach, count * rowsEach, from);
    }

    private int rowsPerToken(int heads) {
        return tokens ? 1 : heads;
    }

    /** How many of the next rows lie one behind the other, here and in an array of this pitch. */
    private int merged(long row, int rows, int columns, int pitch) {
        if (columns != width || pitch != columns) {
            return 1;
        }
        int merged = 1;
        long expected = offset(row) + width;
        while (merged < rows && offset(row + merged) == expected) {
            merged++;
            expected += width;
        }
        return merged;
    }

    private void readRun(Scratch scratch, long offset, int n, float[] to, int at) {
        if (dtype == DType.F32) {
            MemorySegment.copy(data, F32, offset * Float.BYTES, to, at, n);
            return;
        }
        short[] halves = scratch.shorts(n);
        MemorySegment.copy(data, I16, offset * Short.BYTES, halves, 0, n);
        Halves.widen(dtype, halves, n, to, at);
    }

    private void writeRun(Scratch scratch, float[] from, int at, int n, long offset) {
        if (dtype == DType.F32) {
            MemorySegment.copy(from, at, data, F32, offset * Float.BYTES, n);
            return;
        }
        short[] halves = scratch.shorts(n);
        Halves.narrow(dtype, from, at, n, halves);
        MemorySegment.copy(halves, 0, data, I16, offset * Short.BYTES, n);
    }
}

package io.kinema.compute.cpu;

import io.kinema.compute.Tensor;
import java.lang.foreign.MemorySegment;

/**
 * An FP32 matrix as BLAS sees it: row-major with a pitch.
 *
 * @param data from the first element on
 * @param ld   floats from one row to the next
 */
record Matrix(MemorySegment data, int ld) {

    /** A rank 2 FP32 tensor whose rows may be strided. */
    static Matrix of(Tensor t) {
        return new Matrix(t.data(), pitch(t.size(0), t.stride(0), t.size(1)));
    }

    /** The pitch that BLAS accepts for a matrix of one row, whose stride means nothing. */
    static int pitch(int rows, long stride, int columns) {
        return Math.max(1, rows > 1 ? Math.toIntExact(stride) : columns);
    }

    /** True when rows lie forward and apart, as BLAS needs. */
    static boolean readable(Tensor t) {
        return t.size(0) <= 1 || t.stride(0) >= t.size(1);
    }

    /** The matrix from (row, column) on. */
    Matrix from(int row, int column) {
        long skip = ((long) row * ld + column) * Float.BYTES;
        return new Matrix(data.asSlice(Math.min(skip, data.byteSize())), ld);
    }
}

package io.kinema.cuda.blas;

import io.kinema.weights.DType;

/**
 * What decides the plan of one product {@code out[m, n] = sum_k x[m, k] w[n, k] (+ bias[n])}, all sizes in elements.
 *
 * @param rows           M
 * @param columns        N
 * @param depth          K
 * @param operand        dtype of x and w: F32, F16 or BF16
 * @param result         dtype of out: F32, or the operand's
 * @param xPitch         from row to row of x
 * @param wPitch         from row to row of w as stored
 * @param outPitch       from row to row of out
 * @param weightByColumn w is stored column by column, strides (1, N)
 * @param bias           an FP32 bias is added in FP32 before the store
 * @param alignment      the largest power of two, at most 256, that divides the addresses of all four in bytes
 */
public record MatmulShape(long rows, long columns, long depth, DType operand, DType result, long xPitch, long wPitch, long outPitch,
                          boolean weightByColumn, boolean bias, int alignment) {
    /** Multiplications and additions. */
    public double flops() {
        return 2.0 * rows * columns * depth;
    }

    @Override
    public String toString() {
        return rows + "x" + columns + "x" + depth + " " + operand + " to " + result + (weightByColumn ? ", column-major weight" : "") + (bias ? ", bias" : "");
    }
}

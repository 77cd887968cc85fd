package io.kinema.weights;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.OptionalInt;

/**
 * Float rows as signed bytes with one scale for each row, after their columns were rotated: {@code scale = max|row| / 127},
 * {@code q = clamp(round(row / scale), -128, 127)}, ties to even; a row of zeros has scale 1. Sums in float64.
 *
 * @param codes        I8 [rows, columns]
 * @param scales       F32 [rows]
 * @param squaredError sum of the squared differences between the values and what the codes stand for
 * @param squaredNorm  sum of the squared values
 */
public record Int8Rows(MemorySegment codes, MemorySegment scales, double squaredError, double squaredNorm) {
    /** The group of the released files. */
    public static final int PUBLISHED_GROUP = 256;

    private static final ValueLayout.OfFloat F32 = ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    /** The largest power of 4 up to {@code most} that divides {@code columns}; empty when not even 4 does. */
    public static OptionalInt group(long columns, int most) {
        int group = 0;
        for (int n = 4; n <= most; n *= 4) {
            group = columns % n == 0 ? n : group;
        }
        return group == 0 ? OptionalInt.empty() : OptionalInt.of(group);
    }

    /** True for the widths a rotation exists for: powers of 4, from 4 on. */
    public static boolean groupExists(int group) {
        return RegularHadamard.order(group);
    }

    /** The bytes of the tensor that says how such a matrix is stored. */
    public static byte[] marker(OptionalInt group) {
        return QuantizationMarker.int8(group);
    }

    /**
     * @param values  row-major, a whole number of rows, finite
     * @param group   width of the rotated groups, which divides {@code columns}; empty for no rotation
     * @throws IllegalArgumentException when a value is not finite
     */
    public static Int8Rows of(float[] values, int columns, OptionalInt group) {
        int rows = values.length / columns;
        byte[] codes = new byte[values.length];
        MemorySegment scales = MemorySegment.ofArray(new byte[rows * Float.BYTES]);
        double[] row = new double[columns];
        double squaredError = 0;
        double squaredNorm = 0;
        for (int n = 0; n < rows; n++) {
            for (int k = 0; k < columns; k++) {
                row[k] = values[n * columns + k];
            }
            group.ifPresent(g -> RegularHadamard.rotate(row, g));
            float scale = scale(row);
            scales.setAtIndex(F32, n, scale);
            for (int k = 0; k < columns; k++) {
                byte code = (byte) Math.clamp(Math.rint(row[k] / scale), -128, 127);
                codes[n * columns + k] = code;
                squaredError += (row[k] - code * (double) scale) * (row[k] - code * (double) scale);
                squaredNorm += row[k] * row[k];
            }
        }
        return new Int8Rows(MemorySegment.ofArray(codes), scales, squaredError, squaredNorm);
    }

    private static float scale(double[] row) {
        double largest = 0;
        for (double v : row) {
            if (!Double.isFinite(v)) {
                throw new IllegalArgumentException("int8 rows: got " + v + ", expected finite values");
            }
            largest = Math.max(largest, Math.abs(v));
        }
        float scale = (float) (largest / 127);
        return scale > 0 ? scale : 1;
    }
}

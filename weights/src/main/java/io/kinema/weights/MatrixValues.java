package io.kinema.weights;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** The values of a stored matrix as they were trained: decoded, and with the rotation of its columns undone. For files and tables, not for products. */
public final class MatrixValues {
    private MatrixValues() {
    }

    /**
     * Writes rows {@code [from, to)} to {@code out} from {@code out[at]} on, rounded to FP32.
     *
     * @throws IndexOutOfBoundsException when there are fewer rows, or too little room
     */
    public static void decode(StoredMatrix matrix, long from, long to, float[] out, int at) {
        switch (matrix) {
            case EncodedMatrix encoded -> encoded.decode(from, to, out, at);
            case FloatMatrix floats -> {
                StoredTensor rows = floats.tensor().rows(from, to);
                int count = Math.toIntExact(rows.shape().elements());
                FloatConversion.convert(rows.dtype(), rows.data(), DType.F32, MemorySegment.ofArray(out).asSlice((long) at * Float.BYTES, (long) count * Float.BYTES), count);
            }
            case Int8Matrix int8 -> int8(int8.rows(from, to), out, at);
        }
        if (matrix.rotation().isPresent()) {
            unrotate(out, at, Math.toIntExact((to - from) * matrix.columns()), matrix.rotation().getAsInt());
        }
    }

    private static void int8(Int8Matrix matrix, float[] out, int at) {
        int columns = Math.toIntExact(matrix.columns());
        float[] scales = FloatConversion.toFloats(matrix.scales());
        for (int row = 0; row < scales.length; row++) {
            for (int k = 0; k < columns; k++) {
                int index = row * columns + k;
                out[at + index] = matrix.values().data().get(ValueLayout.JAVA_BYTE, index) * scales[row];
            }
        }
    }

    private static void unrotate(float[] values, int at, int count, int group) {
        double[] wide = new double[group];
        for (int begin = at; begin < at + count; begin += group) {
            for (int i = 0; i < group; i++) {
                wide[i] = values[begin + i];
            }
            RegularHadamard.rotate(wide, group);
            for (int i = 0; i < group; i++) {
                values[begin + i] = (float) wide[i];
            }
        }
    }
}

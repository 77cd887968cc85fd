package io.kinema.model.load;

import io.kinema.model.load.Parameters.Rounding;
import io.kinema.weights.BadWeightsException;
import io.kinema.weights.DType;
import io.kinema.weights.EncodedMatrix;
import io.kinema.weights.FloatConversion;
import io.kinema.weights.Int8Matrix;
import io.kinema.weights.StoredTensor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.file.Path;

/** Refuses weights that the operands of a plan cannot hold: the SM70 path never clamps (sm70-execution, rule 7). */
final class WeightRange {
    private static final float LARGEST = 65504f;
    /** The largest magnitude of an 8-bit integer. */
    private static final float LARGEST_INT8 = 128f;
    private static final int ROWS_AT_A_TIME = 16;
    /** The largest BF16 value within FP16's range, 65280, and FP16's own, 65504, as bits. */
    private static final int LARGEST_BF16 = 0x477f;
    private static final int LARGEST_F16 = 0x7bff;
    private static final int AT_A_TIME = 1 << 13;
    private static final ValueLayout.OfShort I16 = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt I32 = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private WeightRange() {
    }

    /** Every value must be finite and within FP16's range. */
    static void require(StoredTensor stored) {
        long n = stored.shape().elements();
        for (long from = 0; from < n; from += AT_A_TIME) {
            int count = (int) Math.min(AT_A_TIME, n - from);
            if (!fits(stored, from, count)) {
                requireEach(stored, from, count);
            }
        }
    }

    /**
     * True when {@code count} values from {@code from} on all fit. Without their sign, the bits of floats are integers in the same
     * order, infinities and NaN above all others, so the largest decides; a type without such a shortcut is looked at one by one.
     */
    private static boolean fits(StoredTensor stored, long from, int count) {
        return switch (stored.dtype()) {
            case BF16 -> largestHalf(stored, from, count) <= LARGEST_BF16;
            case F16 -> largestHalf(stored, from, count) <= LARGEST_F16;
            case F32 -> {
                int[] bits = new int[count];
                MemorySegment.copy(stored.data(), I32, from * Integer.BYTES, bits, 0, count);
                int largest = 0;
                for (int b : bits) {
                    largest = Math.max(largest, b & 0x7fffffff);
                }
                yield largest <= Float.floatToRawIntBits(LARGEST);
            }
            default -> false;
        };
    }

    private static int largestHalf(StoredTensor stored, long from, int count) {
        short[] bits = new short[count];
        MemorySegment.copy(stored.data(), I16, from * Short.BYTES, bits, 0, count);
        int largest = 0;
        for (short b : bits) {
            largest = Math.max(largest, b & 0x7fff);
        }
        return largest;
    }

    /** Names the first value that does not fit. */
    private static void requireEach(StoredTensor stored, long from, int count) {
        for (long i = from; i < from + count; i++) {
            float v = (float) FloatConversion.toDouble(stored.dtype(), stored.data(), i);
            if (!(Math.abs(v) <= LARGEST)) {
                throw unfit(stored.file(), stored.name(), "element " + i + " is " + v);
            }
        }
    }

    /** Scales must be finite and above 0; those of an FP16 plan must keep every integer within FP16's range. */
    static void require(Int8Matrix matrix, Rounding rounding) {
        float[] scales = FloatConversion.toFloats(matrix.scales());
        for (int n = 0; n < scales.length; n++) {
            if (!(scales[n] > 0 && scales[n] < Float.POSITIVE_INFINITY)) {
                throw new BadWeightsException(matrix.file() + ": tensor " + matrix.scales().name() + " element " + n + " is " + scales[n]
                        + ", expected a finite scale above 0; the file is damaged");
            }
            if (rounding == Rounding.F16 && !(LARGEST_INT8 * scales[n] <= LARGEST)) {
                throw unfit(matrix.file(), matrix.scales().name(), "element " + n + " is " + scales[n] + ", which makes weights of " + LARGEST_INT8 * scales[n]);
            }
        }
    }

    /** Every decoded value must be finite and, in an FP16 plan, within FP16's range. */
    static void require(EncodedMatrix matrix, Rounding rounding) {
        float largest = rounding == Rounding.F16 ? LARGEST : Float.MAX_VALUE;
        if (matrix.bound() <= largest) {
            return;
        }
        int columns = Math.toIntExact(matrix.columns());
        float[] values = new float[ROWS_AT_A_TIME * columns];
        for (long row = 0; row < matrix.rows(); row += ROWS_AT_A_TIME) {
            long last = Math.min(matrix.rows(), row + ROWS_AT_A_TIME);
            matrix.decode(row, last, values, 0);
            for (int i = 0; i < (last - row) * columns; i++) {
                if (!Float.isFinite(values[i])) {
                    throw new BadWeightsException(matrix.file() + ": tensor " + matrix.name() + " (" + matrix.encoding() + ") element " + (row * columns + i)
                            + " is " + values[i] + ", expected finite values; the file is damaged, fetch it again");
                }
                if (!(Math.abs(values[i]) <= largest)) {
                    throw unfit(matrix.file(), matrix.name(), "element " + (row * columns + i) + " is " + values[i]);
                }
            }
        }
    }

    private static BadWeightsException unfit(Path file, String tensor, String what) {
        return new BadWeightsException(file + ": tensor " + tensor + " " + what + ", expected a finite value within +-65504 for "
                + DType.F16 + "; use --precision fp32 or bf16-fp32res");
    }
}

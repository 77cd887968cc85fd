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
import java.nio.file.Path;

/** Refuses weights that the operands of a plan cannot hold: the SM70 path never clamps (sm70-execution, rule 7). */
final class WeightRange {
    private static final float LARGEST = 65504f;
    /** The largest magnitude of an 8-bit integer. */
    private static final float LARGEST_INT8 = 128f;
    private static final int ROWS_AT_A_TIME = 16;
    private static final ValueLayout.OfShort I16 = ValueLayout.JAVA_SHORT_UNALIGNED;
    private static final ValueLayout.OfFloat F32 = ValueLayout.JAVA_FLOAT_UNALIGNED;

    private WeightRange() {
    }

    /** Every value must be finite and within FP16's range. */
    static void require(StoredTensor stored) {
        MemorySegment data = stored.data();
        long n = stored.shape().elements();
        for (long i = 0; i < n; i++) {
            float v = switch (stored.dtype()) {
                case BF16 -> Float.intBitsToFloat(data.get(I16, i * 2) << 16);
                case F32 -> data.get(F32, i * 4);
                case F16 -> Float.float16ToFloat(data.get(I16, i * 2));
                default -> (float) FloatConversion.toDouble(stored.dtype(), data, i);
            };
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

package io.kinema.model.load;

import io.kinema.weights.BadWeightsException;
import io.kinema.weights.DType;
import io.kinema.weights.FloatConversion;
import io.kinema.weights.StoredTensor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Refuses weights that FP16 cannot hold: the SM70 path never clamps (sm70-execution, rule 7). */
final class HalfRange {
    private static final float LARGEST = 65504f;
    private static final ValueLayout.OfShort I16 = ValueLayout.JAVA_SHORT_UNALIGNED;
    private static final ValueLayout.OfFloat F32 = ValueLayout.JAVA_FLOAT_UNALIGNED;

    private HalfRange() {
    }

    static void requireRepresentable(StoredTensor stored) {
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
                throw new BadWeightsException(stored.file() + ": tensor " + stored.name() + " element " + i + " is " + v
                        + ", expected a finite value within +-65504 for " + DType.F16 + "; use --precision fp32 or bf16-fp32res");
            }
        }
    }
}

package io.kinema.compute;

import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Levels of host tensors, value by value. */
final class PictureLevels {
    private static final ValueLayout.OfFloat F32 = ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt I32 = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    /** Adding and subtracting 1.5 * 2^23 rounds a float of magnitude below 2^22 half to even. */
    private static final float ROUNDER = 0x1.8p23f;

    private PictureLevels() {
    }

    static void compute(Tensor x, float[] factor, float[] offset, Tensor out, Tensor notFinite) {
        int channels = x.size(0);
        long area = (long) x.size(2) * x.size(3);
        for (int t = 0; t < x.size(1); t++) {
            int odd = 0;
            for (int c = 0; c < channels; c++) {
                long from = c * x.stride(0) + t * x.stride(1);
                for (long i = 0; i < area; i++) {
                    float value = x.data().get(F32, (from + i) * Float.BYTES);
                    odd += Float.isFinite(value) ? 0 : 1;
                    out.data().set(ValueLayout.JAVA_BYTE, (t * area + i) * channels + c, level(value * factor[c] + offset[c]));
                }
            }
            notFinite.data().set(I32, (long) t * Integer.BYTES, odd);
        }
    }

    private static byte level(float unit) {
        float within = Math.min(Math.max(unit, 0f), 1f);
        return (byte) (int) ((within * 255f + ROUNDER) - ROUNDER);
    }
}

package io.kinema.compute.cpu;

import io.kinema.compute.HalfPrecision;
import io.kinema.weights.DType;

/** Conversions of whole arrays between 16-bit floats and FP32; plain loops that the compiler turns into vector code. */
final class Halves {
    private Halves() {
    }

    static void widen(DType dtype, short[] from, int n, float[] to, int at) {
        if (dtype == DType.BF16) {
            for (int i = 0; i < n; i++) {
                to[at + i] = Float.intBitsToFloat(from[i] << 16);
            }
        } else {
            for (int i = 0; i < n; i++) {
                to[at + i] = Float.float16ToFloat(from[i]);
            }
        }
    }

    static void narrow(DType dtype, float[] from, int at, int n, short[] to) {
        if (dtype == DType.BF16) {
            for (int i = 0; i < n; i++) {
                to[i] = HalfPrecision.toBf16(from[at + i]);
            }
        } else {
            for (int i = 0; i < n; i++) {
                to[i] = Float.floatToFloat16(from[at + i]);
            }
        }
    }
}

package io.kinema.compute.cpu;

import io.kinema.compute.HalfPrecision;
import io.kinema.weights.DType;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorShape;
import jdk.incubator.vector.VectorSpecies;

/**
 * Conversions of whole arrays between 16-bit floats and FP32. The compiler makes vector code of the FP16 loops by itself;
 * the BF16 loops are written with vectors of half as many bits on the 16-bit side.
 */
final class Halves {
    /** As many 16-bit lanes as {@link Lanes#F32} has; with the narrowest FP32 vectors there is no such shape. */
    private static final boolean VECTORS = Lanes.F32.vectorBitSize() >= 128;
    private static final VectorSpecies<Short> I16 =
            VectorSpecies.of(short.class, VectorShape.forBitSize(Math.max(64, Lanes.F32.vectorBitSize() / 2)));

    private Halves() {
    }

    static void widen(DType dtype, short[] from, int n, float[] to, int at) {
        if (dtype == DType.BF16) {
            widenBf16(from, n, to, at);
            return;
        }
        for (int i = 0; i < n; i++) {
            to[at + i] = Float.float16ToFloat(from[i]);
        }
    }

    private static void widenBf16(short[] from, int n, float[] to, int at) {
        int i = 0;
        for (; VECTORS && i <= n - Lanes.COUNT; i += Lanes.COUNT) {
            IntVector bits = (IntVector) ShortVector.fromArray(I16, from, i).convertShape(VectorOperators.ZERO_EXTEND_S2I, Lanes.I32, 0);
            bits.lanewise(VectorOperators.LSHL, 16).viewAsFloatingLanes().intoArray(to, at + i);
        }
        for (; i < n; i++) {
            to[at + i] = HalfPrecision.fromBf16(from[i]);
        }
    }

    /** Rounds the first n values to the values that {@code dtype} has; F32 leaves them alone. */
    static void round(DType dtype, float[] a, int n, Scratch scratch) {
        if (dtype != DType.F32) {
            short[] halves = scratch.shorts(n);
            narrow(dtype, a, 0, n, halves);
            widen(dtype, halves, n, a, 0);
        }
    }

    static void narrow(DType dtype, float[] from, int at, int n, short[] to) {
        if (dtype == DType.BF16) {
            narrowBf16(from, at, n, to);
            return;
        }
        for (int i = 0; i < n; i++) {
            to[i] = Float.floatToFloat16(from[at + i]);
        }
    }

    /** Adds just under half of the last kept place, plus that place's bit: ties go to even. NaN is kept apart. */
    private static void narrowBf16(float[] from, int at, int n, short[] to) {
        int i = 0;
        for (; VECTORS && i <= n - Lanes.COUNT; i += Lanes.COUNT) {
            FloatVector x = Lanes.load(from, at + i);
            IntVector bits = x.viewAsIntegralLanes();
            IntVector even = bits.lanewise(VectorOperators.LSHR, 16).and(1);
            IntVector rounded = bits.add(even).add(0x7fff).lanewise(VectorOperators.LSHR, 16);
            IntVector quiet = bits.lanewise(VectorOperators.LSHR, 16).or(0x40);
            IntVector kept = rounded.blend(quiet, x.test(VectorOperators.IS_NAN).cast(Lanes.I32));
            ((ShortVector) kept.convertShape(VectorOperators.I2S, I16, 0)).intoArray(to, i);
        }
        for (; i < n; i++) {
            to[i] = HalfPrecision.toBf16(from[at + i]);
        }
    }
}

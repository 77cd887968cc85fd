package io.kinema.compute;

/** Conversions between FP32 or FP64 and the 16-bit float types, rounded once to nearest even. */
public final class HalfPrecision {
    private HalfPrecision() {
    }

    /** The BF16 bits nearest to {@code value}; ties to even, overflow to infinity, NaN stays a quiet NaN. */
    public static short toBf16(float value) {
        int bits = Float.floatToRawIntBits(value);
        if (value != value) {
            return (short) ((bits >>> 16) | 0x40);
        }
        return (short) ((bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16);
    }

    /** The float with these BF16 bits (exact). */
    public static float fromBf16(short bits) {
        return Float.intBitsToFloat(bits << 16);
    }

    /** The FP16 bits nearest to {@code value}; ties to even, overflow to infinity. */
    public static short toF16(float value) {
        return Float.floatToFloat16(value);
    }

    /** The float with these FP16 bits (exact). */
    public static float fromF16(short bits) {
        return Float.float16ToFloat(bits);
    }

    /**
     * {@code value} as a float rounded to odd: a later rounding to a type at least two bits narrower than FP32 then gives
     * the same result as rounding {@code value} to that type directly.
     */
    public static float toOddFloat(double value) {
        float near = (float) value;
        if (near == value || Double.isNaN(value) || Float.isInfinite(near)) {
            return near;
        }
        int bits = Float.floatToRawIntBits(near);
        boolean awayFromZero = Math.abs((double) near) > Math.abs(value);
        return Float.intBitsToFloat((awayFromZero ? bits - 1 : bits) | 1);
    }
}

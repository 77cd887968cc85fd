package io.kinema.weights;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Exact scalar conversions between stored element types: widening never rounds, narrowing rounds once to nearest even
 * (overflow becomes infinity, NaN stays a quiet NaN of the same sign). Little-endian, unaligned addresses welcome.
 * These are the definition that vectorised conversions elsewhere are tested against.
 */
public final class FloatConversion {
    private static final ValueLayout.OfShort I16 = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt I32 = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong I64 = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfFloat F32 = ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfDouble F64 = ValueLayout.JAVA_DOUBLE_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfByte I8 = ValueLayout.JAVA_BYTE;

    private FloatConversion() {
    }

    /** The BF16 bits widened; exact. */
    public static float fromBf16(short bits) {
        return Float.intBitsToFloat(bits << 16);
    }

    /** {@code value} rounded to BF16. */
    public static short toBf16(float value) {
        int bits = Float.floatToRawIntBits(value);
        if (Float.isNaN(value)) {
            return (short) (bits >>> 16 | 0x40);
        }
        // Half of the last kept place, less one unless the kept part is odd: ties go to even, carries run into the exponent.
        return (short) (bits + 0x7fff + (bits >>> 16 & 1) >>> 16);
    }

    /** {@code value} rounded once to BF16 (through round-to-odd, so that no tie is created on the way). */
    public static short toBf16(double value) {
        return toBf16(roundToOdd(value));
    }

    /** The FP16 bits widened; exact. */
    public static float fromF16(short bits) {
        return Float.float16ToFloat(bits);
    }

    /** {@code value} rounded to FP16. */
    public static short toF16(float value) {
        return Float.floatToFloat16(value);
    }

    /** {@code value} rounded once to FP16. */
    public static short toF16(double value) {
        return toF16(roundToOdd(value));
    }

    /** FP8 with 4 exponent and 3 mantissa bits, no infinities (the "fn" form that checkpoints use); exact. */
    public static float fromF8E4M3(byte bits) {
        int exponent = bits >>> 3 & 15;
        int mantissa = bits & 7;
        if ((bits & 0x7f) == 0x7f) {
            return Float.NaN;
        }
        float magnitude = exponent == 0 ? mantissa * 0x1p-9f : Math.scalb(1 + mantissa / 8f, exponent - 7);
        return bits < 0 ? -magnitude : magnitude;
    }

    /** FP8 with 5 exponent and 2 mantissa bits: the upper half of an FP16; exact. */
    public static float fromF8E5M2(byte bits) {
        return fromF16((short) (bits << 8));
    }

    /** Element {@code index} of {@code data} as a double; exact for every dtype but I64 and U64 beyond 2^53 (U64 is read unsigned). */
    public static double toDouble(DType dtype, MemorySegment data, long index) {
        return switch (dtype) {
            case F64 -> data.getAtIndex(F64, index);
            case F32 -> data.getAtIndex(F32, index);
            case F16 -> fromF16(data.getAtIndex(I16, index));
            case BF16 -> fromBf16(data.getAtIndex(I16, index));
            case F8_E4M3 -> fromF8E4M3(data.get(I8, index));
            case F8_E5M2 -> fromF8E5M2(data.get(I8, index));
            case I64 -> data.getAtIndex(I64, index);
            case U64 -> unsigned(data.getAtIndex(I64, index));
            case I32 -> data.getAtIndex(I32, index);
            case U32 -> Integer.toUnsignedLong(data.getAtIndex(I32, index));
            case I16 -> data.getAtIndex(I16, index);
            case U16 -> Short.toUnsignedInt(data.getAtIndex(I16, index));
            case I8 -> data.get(I8, index);
            case U8, BOOL -> Byte.toUnsignedInt(data.get(I8, index));
        };
    }

    /** All elements as doubles, row-major. @throws ArithmeticException when there are more than 2^31 - 1 */
    public static double[] toDoubles(StoredTensor tensor) {
        double[] out = new double[Math.toIntExact(tensor.shape().elements())];
        for (int i = 0; i < out.length; i++) {
            out[i] = toDouble(tensor.dtype(), tensor.data(), i);
        }
        return out;
    }

    /** All elements as floats, row-major; F64 and wide integers are rounded once. */
    public static float[] toFloats(StoredTensor tensor) {
        float[] out = new float[Math.toIntExact(tensor.shape().elements())];
        convert(tensor.dtype(), tensor.data(), DType.F32, MemorySegment.ofArray(out), out.length);
        return out;
    }

    /**
     * Converts {@code count} elements. Equal dtypes copy bytes.
     *
     * @param to F64, F32, F16 or BF16, or equal to {@code from}
     * @throws IllegalArgumentException for another {@code to}
     * @throws IndexOutOfBoundsException when a segment is too short
     */
    public static void convert(DType from, MemorySegment src, DType to, MemorySegment dst, long count) {
        if (from == to) {
            MemorySegment.copy(src, 0, dst, 0, count * from.bytes());
            return;
        }
        switch (to) {
            case F32 -> toF32(from, src, dst, count);
            case F64 -> {
                for (long i = 0; i < count; i++) {
                    dst.setAtIndex(F64, i, toDouble(from, src, i));
                }
            }
            case F16 -> {
                for (long i = 0; i < count; i++) {
                    dst.setAtIndex(I16, i, toF16(toDouble(from, src, i)));
                }
            }
            case BF16 -> {
                for (long i = 0; i < count; i++) {
                    dst.setAtIndex(I16, i, toBf16(toDouble(from, src, i)));
                }
            }
            default -> throw new IllegalArgumentException("convert: got target " + to + ", expected F64, F32, F16, BF16 or the source's " + from);
        }
    }

    private static void toF32(DType from, MemorySegment src, MemorySegment dst, long count) {
        switch (from) {
            case BF16 -> {
                for (long i = 0; i < count; i++) {
                    dst.setAtIndex(F32, i, fromBf16(src.getAtIndex(I16, i)));
                }
            }
            case F16 -> {
                for (long i = 0; i < count; i++) {
                    dst.setAtIndex(F32, i, fromF16(src.getAtIndex(I16, i)));
                }
            }
            default -> {
                for (long i = 0; i < count; i++) {
                    dst.setAtIndex(F32, i, (float) toDouble(from, src, i));
                }
            }
        }
    }

    /**
     * To float towards zero, with the last bit set when anything was lost. Rounding that to a type at least two bits
     * narrower gives what rounding the double itself would (Boldo and Melquiond, 2008).
     */
    private static float roundToOdd(double value) {
        float nearest = (float) value;
        if (nearest == value || Double.isNaN(value)) {
            return nearest;
        }
        float towardsZero = Math.abs((double) nearest) > Math.abs(value)
                ? Float.intBitsToFloat(Float.floatToRawIntBits(nearest) - 1) : nearest;
        return Float.intBitsToFloat(Float.floatToRawIntBits(towardsZero) | 1);
    }

    private static double unsigned(long value) {
        return value >= 0 ? value : (value >>> 1 | value & 1) * 2.0;
    }
}

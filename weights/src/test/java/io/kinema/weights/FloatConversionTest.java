package io.kinema.weights;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.util.function.IntFunction;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class FloatConversionTest {
    @Test
    void everyBf16AndF16SurvivesWideningAndNarrowing() {
        for (int i = 0; i < 1 << 16; i++) {
            float b = FloatConversion.fromBf16((short) i);
            float h = FloatConversion.fromF16((short) i);
            if (!Float.isNaN(b)) {
                assertThat(FloatConversion.toBf16(b)).isEqualTo((short) i);
                assertThat(FloatConversion.toBf16((double) b)).isEqualTo((short) i);
            }
            if (!Float.isNaN(h)) {
                assertThat(FloatConversion.toF16(h)).isEqualTo((short) i);
                assertThat(FloatConversion.toF16((double) h)).isEqualTo((short) i);
            }
        }
    }

    @Test
    void knownRoundings() {
        assertThat(FloatConversion.toBf16(Float.intBitsToFloat(0x3f808000))).as("tie to even, down").isEqualTo((short) 0x3f80);
        assertThat(FloatConversion.toBf16(Float.intBitsToFloat(0x3f818000))).as("tie to even, up").isEqualTo((short) 0x3f82);
        assertThat(FloatConversion.toBf16(Float.intBitsToFloat(0x3f808001))).as("above the tie").isEqualTo((short) 0x3f81);
        assertThat(FloatConversion.toBf16(Float.MAX_VALUE)).as("overflow").isEqualTo((short) 0x7f80);
        assertThat(FloatConversion.toBf16(Float.NEGATIVE_INFINITY)).isEqualTo((short) 0xff80);
        assertThat(FloatConversion.fromBf16(FloatConversion.toBf16(Float.intBitsToFloat(0x7f800001)))).as("a NaN that truncation would turn into infinity").isNaN();
        // Just above the tie between 1 and 1 + 2^-10: rounding through float first would make it a tie and lose it.
        assertThat(FloatConversion.toF16(1 + 0x1p-11 + 0x1p-40)).isEqualTo((short) 0x3c01);
        assertThat(FloatConversion.toF16((float) (1 + 0x1p-11 + 0x1p-40))).isEqualTo((short) 0x3c00);
        assertThat(FloatConversion.toBf16(1 + 0x1p-8 + 0x1p-40)).isEqualTo((short) 0x3f81);
        assertThat(FloatConversion.toF16(65519.99)).isEqualTo((short) 0x7bff);
        assertThat(FloatConversion.toF16(65520.0)).isEqualTo((short) 0x7c00);
        assertThat(FloatConversion.toF16(Double.MAX_VALUE)).isEqualTo((short) 0x7c00);
        assertThat(FloatConversion.toF16(-0x1p-25)).isEqualTo((short) 0x8000);
        assertThat(FloatConversion.toF16(-0x1.00001p-25)).isEqualTo((short) 0x8001);
    }

    @Test
    void knownFloat8() {
        assertThat(FloatConversion.fromF8E4M3((byte) 0x7e)).isEqualTo(448f);
        assertThat(FloatConversion.fromF8E4M3((byte) 0x7f)).isNaN();
        assertThat(FloatConversion.fromF8E4M3((byte) 0x01)).isEqualTo(0x1p-9f);
        assertThat(FloatConversion.fromF8E4M3((byte) 0xb8)).isEqualTo(-1f);
        assertThat(FloatConversion.fromF8E5M2((byte) 0x7b)).isEqualTo(57344f);
        assertThat(FloatConversion.fromF8E5M2((byte) 0xfc)).isEqualTo(Float.NEGATIVE_INFINITY);
        assertThat(FloatConversion.fromF8E5M2((byte) 0x01)).isEqualTo(0x1p-16f);
    }

    @Property(tries = 20_000)
    void narrowingADoubleIsNearestAndEven(@ForAll long bits, @ForAll int exponent) {
        // Exponents near the narrow types' ranges, so that subnormals, ties and overflow all occur.
        double value = Math.scalb(Double.longBitsToDouble(bits & 0x800fffffffffffffL | 0x3ff0000000000000L), exponent % 40);
        nearest(value, FloatConversion.toF16(value), i -> FloatConversion.fromF16((short) i), 65504);
        nearest(value, FloatConversion.toBf16(value), i -> FloatConversion.fromBf16((short) i), FloatConversion.fromBf16((short) 0x7f7f));
    }

    private static void nearest(double value, short got, IntFunction<Float> decode, double largest) {
        double near = decode.apply(got);
        if (Double.isInfinite(near)) {
            assertThat(Math.abs(value)).isGreaterThan(largest);
            return;
        }
        BigDecimal exact = new BigDecimal(value);
        BigDecimal error = exact.subtract(new BigDecimal(near)).abs();
        for (int step : new int[] {-1, 1}) {
            int neighbour = (got & 0x7fff) + step;
            double other = neighbour < 0 ? -Math.copySign(decode.apply(1), value) : Math.copySign(decode.apply(neighbour), value);
            if (Double.isFinite(other)) {
                int order = error.compareTo(exact.subtract(new BigDecimal(other)).abs());
                assertThat(order).as("%s became %s but %s is nearer", value, near, other).isLessThanOrEqualTo(0);
                assertThat(order != 0 || (got & 1) == 0).as("tie of %s goes to even, got %s", value, near).isTrue();
            }
        }
    }

    @Test
    void bulkConversionsAgreeWithSingleOnesAtOddAddresses() {
        float[] values = {0, -0f, 1.5f, -3.1415927f, 1e-40f, 1e30f, Float.NaN, Float.POSITIVE_INFINITY};
        for (DType to : new DType[] {DType.F64, DType.F16, DType.BF16}) {
            MemorySegment narrow = MemorySegment.ofArray(new byte[values.length * to.bytes() + 1]).asSlice(1);
            MemorySegment wide = MemorySegment.ofArray(new byte[values.length * 4 + 1]).asSlice(1);
            FloatConversion.convert(DType.F32, MemorySegment.ofArray(values), to, narrow, values.length);
            FloatConversion.convert(to, narrow, DType.F32, wide, values.length);
            for (int i = 0; i < values.length; i++) {
                float expected = switch (to) {
                    case F16 -> FloatConversion.fromF16(FloatConversion.toF16(values[i]));
                    case BF16 -> FloatConversion.fromBf16(FloatConversion.toBf16(values[i]));
                    default -> values[i];
                };
                assertThat(Float.valueOf((float) FloatConversion.toDouble(DType.F32, wide, i))).isEqualTo(Float.valueOf(expected));
            }
        }
        assertThatThrownBy(() -> FloatConversion.convert(DType.F32, MemorySegment.ofArray(values), DType.I8, MemorySegment.ofArray(new byte[8]), 8))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("got target I8");
    }

    @Test
    void integersWidenWithTheirSign() {
        byte[] bytes = {-1, -1, -1, -1, -1, -1, -1, -1};
        MemorySegment data = MemorySegment.ofArray(bytes);
        assertThat(FloatConversion.toDouble(DType.I64, data, 0)).isEqualTo(-1);
        assertThat(FloatConversion.toDouble(DType.U64, data, 0)).isEqualTo(0x1p64);
        assertThat(FloatConversion.toDouble(DType.I32, data, 1)).isEqualTo(-1);
        assertThat(FloatConversion.toDouble(DType.U32, data, 1)).isEqualTo(4294967295.0);
        assertThat(FloatConversion.toDouble(DType.U16, data, 3)).isEqualTo(65535);
        assertThat(FloatConversion.toDouble(DType.I8, data, 7)).isEqualTo(-1);
        assertThat(FloatConversion.toDouble(DType.U8, data, 7)).isEqualTo(255);
        StoredTensor t = new StoredTensor("t", DType.I16, Shape.of(2, 2), data, Path.of("memory"));
        assertThat(FloatConversion.toFloats(t)).containsExactly(-1, -1, -1, -1);
        assertThat(FloatConversion.toDoubles(t)).containsExactly(-1, -1, -1, -1);
    }
}

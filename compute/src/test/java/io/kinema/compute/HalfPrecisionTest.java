package io.kinema.compute;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HalfPrecisionTest {

    @Test
    void everyBf16PatternSurvivesTheRoundTrip() {
        for (int bits = 0; bits < 1 << 16; bits++) {
            float wide = HalfPrecision.fromBf16((short) bits);
            if (wide == wide) {
                assertThat(HalfPrecision.toBf16(wide)).isEqualTo((short) bits);
            } else {
                assertThat(HalfPrecision.fromBf16(HalfPrecision.toBf16(wide))).isNaN();
            }
        }
    }

    @Property
    void bf16IsTheNearestOfItsNeighbours(@ForAll float value) {
        float rounded = HalfPrecision.fromBf16(HalfPrecision.toBf16(value));
        if (Float.isInfinite(rounded)) {
            return;
        }
        int bits = Float.floatToRawIntBits(rounded);
        for (int neighbour : new int[] {bits - (1 << 16), bits + (1 << 16)}) {
            float other = Float.intBitsToFloat(neighbour);
            if (Float.isFinite(other) && other != 0 && Math.signum(other) == Math.signum(rounded)) {
                assertThat(distance(value, rounded)).isLessThanOrEqualTo(distance(value, other));
            }
        }
    }

    private static BigDecimal distance(float a, float b) {
        return new BigDecimal(a).subtract(new BigDecimal(b)).abs();
    }

    @ParameterizedTest
    @CsvSource({"1.00390625, 1.0", "1.01171875, 1.015625", "3.4e38, Infinity", "-0.0, -0.0"})
    void tiesGoToEven(float value, float expected) {
        assertThat(HalfPrecision.fromBf16(HalfPrecision.toBf16(value))).isEqualTo(expected);
    }

    @Test
    void oddFloatsAvoidDoubleRounding() {
        // Just above the tie between two FP16 neighbours: rounding to FP32 first would land on the tie and go down to even.
        double value = 1 + 0x1p-11 + 0x1p-40;
        assertThat(HalfPrecision.fromF16(HalfPrecision.toF16((float) value))).isEqualTo(1f);
        assertThat(HalfPrecision.fromF16(HalfPrecision.toF16(HalfPrecision.toOddFloat(value)))).isEqualTo(1 + 0x1p-10f);
        assertThat(HalfPrecision.fromF16(HalfPrecision.toF16(HalfPrecision.toOddFloat(-value)))).isEqualTo(-1 - 0x1p-10f);
    }

    @ParameterizedTest
    @CsvSource({"0, 1", "2047.9, 1", "2048, 2", "2049, 2", "65504, 32", "1e6, 512", "3e38, 0x1p117", "1e-45, 1", "Infinity, 1"})
    void rowScales(float largest, String expected) {
        assertThat(RowScale.of(largest)).isEqualTo(Float.parseFloat(expected));
    }
}

package io.kinema.engine.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class MetricTest {
    private static final Values EXPECTED = Values.floats(new float[] {3, 4, 0}, 3);

    @Test
    void exactCountsDifferentElements() {
        assertThat(Metric.EXACT.measure(Values.floats(new float[] {3, 4, -0f}, 3), EXPECTED)).isZero();
        assertThat(Metric.EXACT.measure(Values.floats(new float[] {3, Math.nextUp(4f), 1}, 3), EXPECTED)).isEqualTo(2);
        Values nan = Values.floats(new float[] {Float.NaN}, 1);
        assertThat(Metric.EXACT.measure(nan, nan)).isZero();
        assertThat(Metric.EXACT.measure(nan, Values.floats(new float[] {0}, 1))).isEqualTo(1);
    }

    @Test
    void absIsTheLargestDifference() {
        assertThat(Metric.ABS.measure(Values.floats(new float[] {3.5f, 3.75f, 0}, 3), EXPECTED)).isEqualTo(0.5);
        assertThat(Metric.ABS.measure(Values.floats(new float[] {Float.NaN, 4, 0}, 3), EXPECTED)).isInfinite();
    }

    @Test
    void relativeL2IsOverTheWholeTensor() {
        assertThat(Metric.REL_L2.measure(Values.floats(new float[] {3, 4, 0.5f}, 3), EXPECTED)).isCloseTo(0.1, within(1e-12));
        assertThat(Metric.REL_L2.measure(EXPECTED, EXPECTED)).isZero();
        Values zero = Values.floats(new float[3], 3);
        assertThat(Metric.REL_L2.measure(zero, zero)).isZero();
        assertThat(Metric.REL_L2.measure(EXPECTED, zero)).isInfinite();
        assertThat(Metric.REL_L2.measure(Values.floats(new float[] {Float.NaN, 4, 0}, 3), EXPECTED)).isInfinite();
        Values infinite = Values.floats(new float[] {Float.POSITIVE_INFINITY, 4, 0}, 3);
        assertThat(Metric.REL_L2.measure(infinite, infinite)).isZero();
        assertThat(Metric.REL_L2.measure(infinite, EXPECTED)).isInfinite();
        assertThat(Metric.REL_L2.measure(EXPECTED, infinite)).isInfinite();
    }

    @Test
    void levelsAreOfUnsignedBytes() {
        Values a = Values.bytes(new byte[] {(byte) 255, 0}, 2);
        Values b = Values.bytes(new byte[] {(byte) 254, 2}, 2);
        assertThat(Metric.U8_LEVELS.measure(a, b)).isEqualTo(2);
    }

    @Test
    void namesAreThoseOfTheFormat() {
        assertThat(Metric.labelled("rel_l2")).contains(Metric.REL_L2);
        assertThat(Metric.labelled("REL_L2")).isEmpty();
    }
}

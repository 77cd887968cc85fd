package io.kinema.quality.tensor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.kinema.weights.DType;
import io.kinema.weights.MemoryTensors;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.FloatRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class TensorDifferenceTest {
    @Test
    void theDistanceIsThatOfTheFormula() {
        // ||(1, -2, 2)|| / ||(3, 4, 0)|| = 3 / 5.
        assertThat(RelativeL2.of(new float[] {4, 2, 2}, new float[] {3, 4, 0})).isEqualTo(0.6);
    }

    @Property(tries = 200)
    void scalingBothChangesNothingAndScalingOneIsTheDistance(@ForAll @Size(5) float[] values, @ForAll @FloatRange(min = 0.5f, max = 2) float gain) {
        double norm = 0;
        float[] reference = new float[values.length];
        float[] candidate = new float[values.length];
        for (int i = 0; i < values.length; i++) {
            reference[i] = Math.scalb((float) Math.tanh(values[i]), 3);
            candidate[i] = reference[i] * gain;
            norm += Math.abs(reference[i]);
        }
        double expected = norm == 0 ? 0 : Math.abs(gain - 1);
        assertThat(RelativeL2.of(candidate, reference)).isCloseTo(expected, within(1e-6));
    }

    @Test
    void zerosAreEqualAndAnythingAgainstZerosIsInfinitelyFar() {
        assertThat(RelativeL2.of(new float[3], new float[3])).isZero();
        assertThat(RelativeL2.of(new float[] {0, 1, 0}, new float[3])).isInfinite();
    }

    @Test
    void aNaNIsCountedAndNeverADistance() {
        TensorDifference same = TensorDifference.of("x", new float[] {1, Float.NaN}, new float[] {1, Float.NaN}, 2);
        assertThat(same.bitwise()).isTrue();
        assertThat(same.relativeL2()).isNaN();
        assertThat(same.candidateNonFinite()).isOne();
        assertThat(same.referenceNonFinite()).isOne();
        assertThat(RelativeL2.of(new float[] {Float.POSITIVE_INFINITY}, new float[] {1})).isNaN();
    }

    @Test
    void oneUlpIsNotBitwiseAndIsCounted() {
        TensorDifference d = TensorDifference.of("x", new float[] {1, Math.nextUp(2f), 3, 4}, new float[] {1, 2, 3, 4}, 2, 2);
        assertThat(d.bitwise()).isFalse();
        assertThat(d.differing()).isOne();
        assertThat(d.maxAbs()).isEqualTo(Math.ulp(2f));
        assertThat(TensorDifference.of("x", new float[] {1, 2}, new float[] {1, 2}, 2)).matches(TensorDifference::bitwise);
    }

    @Test
    void equalValuesInAnotherDtypeAreNotBitwise() {
        try (MemoryTensors tensors = MemoryTensors.builder("test").rounded("a", DType.F16, new float[] {1, 2}, 2).floats("b", new float[] {1, 2}, 2).build()) {
            TensorDifference d = TensorDifference.of(tensors.get("a"), tensors.get("b"));
            assertThat(d.bitwise()).isFalse();
            assertThat(d.differing()).isZero();
            assertThat(d.relativeL2()).isZero();
        }
    }

    @Test
    void otherShapesAreRefused() {
        try (MemoryTensors tensors = MemoryTensors.builder("test").floats("a", new float[4], 4).floats("b", new float[4], 2, 2).build()) {
            assertThatThrownBy(() -> TensorDifference.of(tensors.get("a"), tensors.get("b")))
                    .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("[4]").hasMessageContaining("[2, 2]");
        }
    }
}

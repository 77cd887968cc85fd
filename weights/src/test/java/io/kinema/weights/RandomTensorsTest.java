package io.kinema.weights;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class RandomTensorsTest {
    private static final List<RandomTensors.Entry> ENTRIES = List.of(
            new RandomTensors.Entry("a.weight", DType.BF16, Shape.of(300, 200)), new RandomTensors.Entry("b.weight", DType.F32, Shape.of(64, 64)),
            new RandomTensors.Entry("c.weight", DType.F16, Shape.of(500)), new RandomTensors.Entry("norm1.weight", DType.BF16, Shape.of(77)));

    @Test
    void theSameSeedGivesTheSameValuesOfTheStatedDeviation() {
        try (RandomTensors one = RandomTensors.of("one", ENTRIES, 5); RandomTensors two = RandomTensors.of("two", ENTRIES, 5);
             RandomTensors other = RandomTensors.of("other", ENTRIES, 6)) {
            for (String name : List.of("a.weight", "b.weight", "c.weight")) {
                float[] values = FloatConversion.toFloats(one.get(name));
                assertThat(values).as(name).isEqualTo(FloatConversion.toFloats(two.get(name))).isNotEqualTo(FloatConversion.toFloats(other.get(name)));
                double squares = 0;
                for (float v : values) {
                    squares += (double) v * v;
                }
                assertThat(Math.sqrt(squares / values.length)).as("deviation of %s", name).isBetween(0.9 * RandomTensors.DEVIATION, 1.1 * RandomTensors.DEVIATION);
            }
        }
    }

    @Test
    void vectorsOfNormsAreOnesAndAbsentNamesAreNamed() {
        try (RandomTensors random = RandomTensors.of("random", ENTRIES, 1)) {
            assertThat(FloatConversion.toFloats(random.get("norm1.weight"))).hasSize(77).containsOnly(1f);
            assertThat(random.names()).containsExactlyInAnyOrder("a.weight", "b.weight", "c.weight", "norm1.weight");
            assertThatThrownBy(() -> random.get("d.weight")).isInstanceOf(BadWeightsException.class).hasMessageContaining("d.weight");
        }
    }

    /** A terabyte cannot be made; what its header says can be known all the same. */
    @Test
    void headersAreKnownWithoutValues() {
        try (RandomTensors random = RandomTensors.of("random", List.of(new RandomTensors.Entry("huge.weight", DType.BF16, Shape.of(1L << 25, 1L << 15))), 1)) {
            TensorHeader header = random.header("huge.weight").orElseThrow();
            assertThat(header.bytes()).isEqualTo(1L << 41);
            assertThat(header.dtype()).contains(DType.BF16);
            assertThat(random.shape("huge.weight")).isEqualTo(Shape.of(1L << 25, 1L << 15));
            assertThat(random.header("tiny.weight")).isEmpty();
        }
    }

    @Test
    void onlyTypesOfWeightsAreMadeAndNothingAfterClose() {
        assertThatThrownBy(() -> RandomTensors.of("random", List.of(new RandomTensors.Entry("x", DType.I8, Shape.of(3))), 1))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("I8").hasMessageContaining("F32, F16 or BF16");
        RandomTensors random = RandomTensors.of("random", ENTRIES, 1);
        random.close();
        random.close();
        assertThatThrownBy(() -> random.find("a.weight")).isInstanceOf(IllegalStateException.class).hasMessageContaining("is closed");
    }
}

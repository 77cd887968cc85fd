package io.kinema.weights;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

class MemoryTensorsTest {
    @Test
    void holdsCopiesUntilClosed() {
        float[] values = {1, 2, 3, 4};
        MemoryTensors t = MemoryTensors.builder("made here").floats("a", values, 2, 2).rounded("b", DType.F16, values, 4).ints("empty", new int[0], 0, 3).build();
        values[0] = 9;
        assertThat(t.names()).containsExactly("a", "b", "empty");
        assertThat(FloatConversion.toFloats(t.get("a"))).containsExactly(1, 2, 3, 4);
        assertThat(FloatConversion.toFloats(t.get("b"))).containsExactly(1, 2, 3, 4);
        assertThat(t.get("empty").data().byteSize()).isZero();
        assertThatThrownBy(() -> t.get("c")).isInstanceOf(BadWeightsException.class).hasMessageContainingAll("made here", "no tensor c");
        MemorySegment data = t.get("a").data();
        t.close();
        t.close();
        assertThatThrownBy(() -> data.get(ValueLayout.JAVA_BYTE, 0)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> t.find("a")).isInstanceOf(IllegalStateException.class).hasMessageContaining("made here is closed");
    }

    @Test
    void givesRowsAsViews() {
        try (MemoryTensors t = MemoryTensors.builder("made here").floats("a", new float[] {1, 2, 3, 4, 5, 6}, 3, 2).floats("scalar", new float[1]).build()) {
            StoredTensor rows = t.rows("a", 1, 3);
            assertThat(rows.shape()).isEqualTo(Shape.of(2, 2));
            assertThat(FloatConversion.toFloats(rows)).containsExactly(3, 4, 5, 6);
            assertThat(rows.data().address()).isEqualTo(t.get("a").data().address() + 8);
            assertThat(t.rows("a", 2, 2).shape()).isEqualTo(Shape.of(0, 2));
            assertThat(t.shape("a")).isEqualTo(Shape.of(3, 2));
            assertThatThrownBy(() -> t.rows("a", 1, 4)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> t.rows("scalar", 0, 1)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> t.rows("c", 0, 1)).isInstanceOf(BadWeightsException.class).hasMessageContaining("no tensor c");
        }
    }

    @Test
    void refusesDuplicatesAndWrongSizes() {
        MemoryTensors.Builder b = MemoryTensors.builder("made here").floats("a", new float[2], 2);
        assertThatThrownBy(() -> b.floats("a", new float[2], 2)).isInstanceOf(IllegalArgumentException.class).hasMessageContaining("added twice");
        assertThatThrownBy(() -> b.floats("c", new float[2], 3)).isInstanceOf(IllegalArgumentException.class).hasMessageContaining("got 8 bytes, expected 12");
        b.build().close();
    }
}

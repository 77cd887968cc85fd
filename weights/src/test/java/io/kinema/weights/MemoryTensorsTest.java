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
    void refusesDuplicatesAndWrongSizes() {
        MemoryTensors.Builder b = MemoryTensors.builder("made here").floats("a", new float[2], 2);
        assertThatThrownBy(() -> b.floats("a", new float[2], 2)).isInstanceOf(IllegalArgumentException.class).hasMessageContaining("added twice");
        assertThatThrownBy(() -> b.floats("c", new float[2], 3)).isInstanceOf(IllegalArgumentException.class).hasMessageContaining("got 8 bytes, expected 12");
        b.build().close();
    }
}

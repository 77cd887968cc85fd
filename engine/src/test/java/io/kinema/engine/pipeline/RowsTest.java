package io.kinema.engine.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class RowsTest {
    @Test
    void audioRowsAreAllLeftThenAllRight() {
        // Two channels of three latents, two values each: row (channel, t) holds 10 * channel + t in both values, signs apart.
        float[] rows = {0, -0f, 1, -1, 2, -2, 10, -10, 11, -11, 12, -12};
        assertThat(Rows.toAudioLatents(rows, 3, 2)).containsExactly(0, 1, 2, -0f, -1, -2, 10, 11, 12, -10, -11, -12);
    }

    @Property(tries = 100)
    void latentsAndRowsAreInverse(@ForAll @IntRange(min = 1, max = 9) int latents, @ForAll @IntRange(min = 1, max = 9) int width) {
        float[] rows = new float[2 * latents * width];
        for (int i = 0; i < rows.length; i++) {
            rows[i] = i;
        }
        assertThat(Rows.toAudioRows(Rows.toAudioLatents(rows, latents, width), latents, width)).isEqualTo(rows);
    }

    @Test
    void blocksAreJoinedInOrder() {
        assertThat(Rows.join(List.of(new float[] {1, 2}, new float[0], new float[] {3}))).containsExactly(1, 2, 3);
    }
}

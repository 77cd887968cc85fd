package io.kinema.model.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class PositionGridTest {
    private static final int SIDE = 4;

    /** Channel 0 holds the row, channel 1 the column of a grid point: bilinear resampling reproduces both exactly. */
    private static PositionGrid coordinates() {
        float[] table = new float[SIDE * SIDE * 2];
        for (int i = 0; i < SIDE * SIDE; i++) {
            table[2 * i] = i / SIDE;
            table[2 * i + 1] = i % SIDE;
        }
        return new PositionGrid(table, SIDE, 2);
    }

    private static float[] at(int row, int height, int column, int width) {
        float[] out = {100, 100, 100, 100};
        coordinates().write(row, height, column, width, out, 1);
        assertThat(out[0]).isEqualTo(100);
        assertThat(out[3]).isEqualTo(100);
        return new float[] {out[1] - 100, out[2] - 100};
    }

    @Test
    void aGridOfItsOwnSizeIsItself() {
        assertThat(at(2, SIDE, 3, SIDE)).containsExactly(2, 3);
    }

    @Test
    void cornersAreAligned() {
        assertThat(at(0, 7, 0, 9)).containsExactly(0, 0);
        assertThat(at(6, 7, 8, 9)).containsExactly(3, 3);
    }

    @Test
    void betweenPointsItIsLinear() {
        float[] middle = at(3, 7, 2, 9);
        assertThat(middle[0]).isCloseTo(1.5f, within(1e-5f));
        assertThat(middle[1]).isCloseTo(0.75f, within(1e-5f));
    }

    @Test
    void onePatchTakesTheFirstPoint() {
        assertThat(at(0, 1, 0, 1)).containsExactly(0, 0);
    }
}

package io.kinema.media.image;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class OrientationTest {

    private static final RgbImage STORED = new RgbImage(2, 3, new byte[] {0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5});

    @ParameterizedTest
    @EnumSource(Orientation.class)
    void keepsEveryPixelOnce(Orientation orientation) {
        RgbImage upright = orientation.apply(STORED);
        assertThat(upright.width()).isEqualTo(orientation.swapsSides() ? 3 : 2);
        assertThat(upright.rgb()).containsExactlyInAnyOrder(STORED.rgb());
    }

    @Test
    void aQuarterTurnAndItsOppositeCancel() {
        RgbImage turned = Orientation.TURN_CLOCKWISE.apply(STORED);
        // Clockwise: the bottom left pixel comes to the top left.
        assertThat(turned.at(0, 0, 0)).isEqualTo(4);
        assertThat(Orientation.TURN_COUNTERCLOCKWISE.apply(turned).rgb()).isEqualTo(STORED.rgb());
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 0, 9, 65535})
    void unknownValuesMeanUpright(int value) {
        assertThat(Orientation.of(value)).isEqualTo(Orientation.UPRIGHT);
    }
}

package io.kinema.media.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.Random;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

class ResizeProperties {

    /** Rounding moves each of at most this many weights by half a step. */
    private static final int STEPS_OFF = 40;

    @Property(tries = 200)
    void weightsSumToOneAndStayInside(@ForAll @IntRange(min = 1, max = 300) int source, @ForAll @IntRange(min = 1, max = 300) int target) {
        for (ResizeTaps taps : new ResizeTaps[] {PillowLanczos.taps(source, target), TorchBicubic.taps(source, target)}) {
            for (int i = 0; i < target; i++) {
                int[] weights = taps.weights()[i];
                int one = 1 << taps.precision();
                assertThat(Arrays.stream(weights).sum()).isBetween(one - STEPS_OFF - weights.length, one + STEPS_OFF + weights.length);
                assertThat(taps.starts()[i]).isGreaterThanOrEqualTo(0);
                assertThat(taps.starts()[i] + weights.length).isLessThanOrEqualTo(source);
            }
        }
    }

    @Property(tries = 100)
    void theTorchWeightsFitSixteenBitsAndUseThem(@ForAll @IntRange(min = 1, max = 300) int source,
            @ForAll @IntRange(min = 1, max = 300) int target) {
        ResizeTaps taps = TorchBicubic.taps(source, target);
        int largest = Arrays.stream(taps.weights()).flatMapToInt(Arrays::stream).max().orElseThrow();
        assertThat(largest).isLessThan(1 << 15);
        assertThat(largest).isGreaterThanOrEqualTo(1 << 13);
    }

    @Property(tries = 60)
    void itsOwnSizeIsTheIdentity(@ForAll @IntRange(min = 1, max = 40) int width, @ForAll @IntRange(min = 1, max = 40) int height,
            @ForAll long seed) {
        RgbImage image = random(width, height, seed);
        assertThat(PillowLanczos.resize(image, width, height).rgb()).isEqualTo(image.rgb());
        assertThat(TorchBicubic.resize(image, width, height).rgb()).isEqualTo(image.rgb());
    }

    @Property(tries = 100)
    void oneColourStaysThatColour(@ForAll @IntRange(min = 1, max = 60) int width, @ForAll @IntRange(min = 1, max = 60) int height,
            @ForAll @IntRange(min = 1, max = 60) int newWidth, @ForAll @IntRange(min = 1, max = 60) int newHeight, @ForAll byte value) {
        RgbImage image = RgbImage.black(width, height);
        Arrays.fill(image.rgb(), value);
        assertThat(PillowLanczos.resize(image, newWidth, newHeight).rgb()).containsOnly(value);
        assertThat(TorchBicubic.resize(image, newWidth, newHeight).rgb()).containsOnly(value);
    }

    @Property(tries = 60)
    void aMirroredPictureGivesAMirroredResult(@ForAll @IntRange(min = 2, max = 40) int width,
            @ForAll @IntRange(min = 1, max = 80) int newWidth, @ForAll long seed) {
        RgbImage image = random(width, 5, seed);
        RgbImage mirrored = Orientation.FLIP_HORIZONTALLY.apply(PillowLanczos.resize(image, newWidth, 7));
        RgbImage other = PillowLanczos.resize(Orientation.FLIP_HORIZONTALLY.apply(image), newWidth, 7);
        for (int i = 0; i < other.rgb().length; i++) {
            // Window edges that fall halfway round to one side, so a last bit may differ.
            assertThat((other.rgb()[i] & 0xff) - (mirrored.rgb()[i] & 0xff)).isBetween(-1, 1);
        }
    }

    @Example
    void noSizeIsRefused() {
        assertThatThrownBy(() -> PillowLanczos.resize(RgbImage.black(2, 2), 0, 4)).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("0x4");
    }

    private static RgbImage random(int width, int height, long seed) {
        RgbImage image = RgbImage.black(width, height);
        new Random(seed).nextBytes(image.rgb());
        return image;
    }
}

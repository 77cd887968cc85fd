package io.kinema.quality.picture;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.media.image.RgbImage;
import java.util.List;
import java.util.function.IntFunction;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class FlashDetectorTest {
    private static final int FRAMES = 30;
    private static final int SIZE = 64;

    @Property(tries = 20)
    void findsOneFrameThatIsBrighterOrDarker(@ForAll @IntRange(min = 1, max = FRAMES - 2) int at, @ForAll @DoubleRange(min = 15, max = 60) double levels,
            @ForAll boolean darker) {
        assertThat(flashes(t -> lit(t, t == at ? (darker ? -levels : levels) : 0))).singleElement().satisfies(flash -> {
            assertThat(flash.frame()).isEqualTo(at);
            assertThat(flash.strength()).isGreaterThan(levels / 2);
        });
    }

    @Property(tries = 20)
    void findsOneTileOfOneFrame(@ForAll @IntRange(min = 1, max = FRAMES - 2) int at, @ForAll @IntRange(min = 0, max = 3) int column, @ForAll @IntRange(min = 0, max = 3) int row) {
        assertThat(flashes(t -> {
            RgbImage wave = Pictures.waves(SIZE, SIZE, 0.3 * t);
            return Pictures.paint(SIZE, SIZE, (x, y, c) -> wave.at(x, y, c) + (t == at && x / 16 == column && y / 16 == row ? 70 : 0));
        })).extracting(Flash::frame).containsExactly(at);
    }

    @Property(tries = 20)
    void aCutAFadeAndMotionAreNoFlash(@ForAll @IntRange(min = 1, max = FRAMES - 1) int cut, @ForAll @DoubleRange(min = 0, max = 2) double speed) {
        assertThat(flashes(t -> t < cut ? Pictures.waves(SIZE, SIZE, speed * t) : Pictures.paint(SIZE, SIZE, (x, y, c) -> 20 + x + y))).isEmpty();
        assertThat(flashes(t -> lit(t, -4 * t))).isEmpty();
    }

    @Property(tries = 20)
    void flickerAndSparkleThatGoOnAreNoFlash(@ForAll long seed, @ForAll @DoubleRange(min = 0.3, max = 3.1) double turn) {
        assertThat(flashes(t -> lit(t, 15 * Math.sin(turn * t)))).isEmpty();
        assertThat(flashes(t -> Pictures.noisy(Pictures.waves(SIZE, SIZE, 0.1 * t), 25, seed + t))).isEmpty();
    }

    @Test
    void aThingThatFliesThroughThePictureIsNoFlash() {
        assertThat(flashes(t -> {
            RgbImage wave = Pictures.waves(SIZE, SIZE, 0.1 * t);
            return Pictures.paint(SIZE, SIZE, (x, y, c) -> Math.hypot(x - 4 * t + 20, y - 30) < 8 ? 250 : wave.at(x, y, c));
        })).isEmpty();
    }

    @Test
    void clipsOfAFewFramesAreTaken() {
        for (int frames = 0; frames < 4; frames++) {
            FlashDetector detector = new FlashDetector();
            for (int t = 0; t < frames; t++) {
                detector.add(FlashDetector.grid(lit(t, t == 1 ? 40 : 0)));
            }
            assertThat(detector.flashes()).hasSize(frames < 3 ? 0 : 1);
        }
    }

    private static RgbImage lit(int t, double levels) {
        RgbImage wave = Pictures.waves(SIZE, SIZE, 0.2 * t);
        return Pictures.paint(SIZE, SIZE, (x, y, c) -> wave.at(x, y, c) + levels);
    }

    private static List<Flash> flashes(IntFunction<RgbImage> clip) {
        FlashDetector detector = new FlashDetector();
        for (int t = 0; t < FRAMES; t++) {
            detector.add(FlashDetector.grid(clip.apply(t)));
        }
        return detector.flashes();
    }
}

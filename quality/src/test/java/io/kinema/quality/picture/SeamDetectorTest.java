package io.kinema.quality.picture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.kinema.media.image.RgbImage;
import java.util.function.IntFunction;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class SeamDetectorTest {
    private static final int WIDTH = 128;
    private static final int HEIGHT = 96;
    private static final int FRAMES = 4;

    /** Field report 14: tiles decoded without blending, a visible grid. */
    @Property(tries = 25)
    void fieldReport14TilesThatDoNotMeetAreFoundWhereTheyMeet(@ForAll @IntRange(min = 16, max = WIDTH - 16) int column, @ForAll @IntRange(min = 16, max = HEIGHT - 16) int row,
            @ForAll @DoubleRange(min = 4, max = 20) double levels) {
        SeamDetector detector = watch(t -> {
            RgbImage wave = Pictures.noisy(Pictures.waves(WIDTH, HEIGHT, 0.3 * t), 1, t);
            return Pictures.paint(WIDTH, HEIGHT, (x, y, c) -> wave.at(x, y, c) + (x < column ? 0 : levels) + (y < row ? 0 : levels));
        });
        assertThat(detector.seams()).extracting(Seam::axis, Seam::position).contains(
                tuple(Seam.Axis.VERTICAL, column), tuple(Seam.Axis.HORIZONTAL, row)).hasSize(2);
        assertThat(detector.score()).isGreaterThan(levels / 3);
    }

    @Property(tries = 15)
    void smoothNoisyAndBlockyPicturesHaveNone(@ForAll @DoubleRange(min = 0, max = 25) double sigma, @ForAll @IntRange(min = 4, max = 16) int block) {
        assertThat(watch(t -> Pictures.noisy(Pictures.waves(WIDTH, HEIGHT, 0.3 * t), sigma, t)).seams()).isEmpty();
        // Codec blocks: every boundary of a fine grid is a little harder than the pixels between.
        assertThat(watch(t -> {
            RgbImage wave = Pictures.waves(WIDTH, HEIGHT, 0.3 * t);
            return Pictures.paint(WIDTH, HEIGHT, (x, y, c) -> wave.at(x / block * block, y / block * block, c) * 0.05 + wave.at(x, y, c) * 0.95);
        }).seams()).isEmpty();
    }

    @Test
    void anEdgeOfAThingIsNoSeamThoughItIsStraight() {
        SeamDetector detector = watch(t -> {
            RgbImage wave = Pictures.waves(WIDTH, HEIGHT, 0.3 * t);
            return Pictures.paint(WIDTH, HEIGHT, (x, y, c) -> wave.at(x, y, c) * (x > 40 && x < 90 && y > 30 && y < 80 ? 0.3 : 1));
        });
        assertThat(detector.seams()).isEmpty();
    }

    @Test
    void barsAreNoSeams() {
        SeamDetector letterbox = watch(t -> {
            RgbImage wave = Pictures.waves(WIDTH, HEIGHT, 0.3 * t);
            return Pictures.paint(WIDTH, HEIGHT, (x, y, c) -> y < 12 || y >= HEIGHT - 9 ? 1 : wave.at(x, y, c));
        });
        assertThat(letterbox.seams()).isEmpty();
        SeamDetector pillars = watch(t -> {
            RgbImage wave = Pictures.waves(WIDTH, HEIGHT, 0.3 * t);
            return Pictures.paint(WIDTH, HEIGHT, (x, y, c) -> x < 20 || x >= WIDTH - 20 ? 0 : wave.at(x, y, c));
        });
        assertThat(pillars.seams()).isEmpty();
    }

    @Test
    void flatAndTinyPicturesScoreNothing() {
        assertThat(watch(t -> RgbImage.black(WIDTH, HEIGHT)).score()).isZero();
        for (int size = 1; size < 12; size++) {
            SeamDetector detector = new SeamDetector(size, size);
            detector.add(Pictures.waves(size, size, 0));
            assertThat(detector.seams()).isEmpty();
        }
        assertThat(new SeamDetector(64, 64).score()).isZero();
    }

    private static SeamDetector watch(IntFunction<RgbImage> clip) {
        SeamDetector detector = new SeamDetector(WIDTH, HEIGHT);
        for (int t = 0; t < FRAMES; t++) {
            detector.add(clip.apply(t));
        }
        return detector;
    }
}

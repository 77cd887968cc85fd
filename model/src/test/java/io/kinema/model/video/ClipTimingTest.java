package io.kinema.model.video;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ClipTimingTest {
    private static final ClipTiming RELEASED = new ClipTiming(17, 4, 3);

    @ParameterizedTest
    @CsvSource({"1,1", "2,2", "17,2", "18,7", "22,7", "34,7", "39,12", "124,37"})
    void framesEncodeTo(int frames, int latentFrames) {
        assertThat(RELEASED.latentFrames(frames)).isEqualTo(latentFrames);
    }

    @ParameterizedTest
    @CsvSource({"3,9", "7,22", "10,34", "12,39", "37,124"})
    void latentFramesDecodeTo(int latentFrames, int frames) {
        assertThat(RELEASED.frames(latentFrames)).isEqualTo(frames);
    }

    @Property(tries = 200)
    void videosOfAllowedLengthKeepIt(@ForAll @IntRange(min = 1, max = 1000) int n) {
        int frames = 17 * n + 5;
        assertThat(RELEASED.latentFrames(frames)).isEqualTo(5 * n + 2);
        assertThat(RELEASED.frames(5 * n + 2)).isEqualTo(frames);
    }

    @Property(tries = 300)
    void everyGeometryDecodesMoreFramesFromMoreLatents(@ForAll @IntRange(min = 1, max = 40) int clip, @ForAll @IntRange(min = 1, max = 8) int ratio,
                                                       @ForAll @IntRange(min = 0, max = 40) int drop) {
        ClipTiming timing = new ClipTiming(clip, ratio, drop % Math.ceilDiv(clip, ratio));
        int least = timing.minimumLatentFrames();
        assertThat(timing.chunks(least)).isEqualTo(1);
        assertThat(timing.frames(least)).isPositive();
        for (int t = least; t < least + 30; t++) {
            int step = timing.frames(t + 1) - timing.frames(t);
            assertThat(step).isBetween(1, ratio);
        }
    }

    @Test
    void refusesTooFewLatentFrames() {
        assertThatThrownBy(() -> RELEASED.frames(2)).isInstanceOf(IllegalArgumentException.class)
                .hasMessage("video decode: got 2 latent frames, expected at least 3, the fewest that make a chunk");
    }
}

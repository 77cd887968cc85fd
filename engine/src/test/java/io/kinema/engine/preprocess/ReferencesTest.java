package io.kinema.engine.preprocess;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.kinema.engine.BadRequestException;
import io.kinema.media.audio.Sound;
import io.kinema.media.image.RgbImage;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.stream.IntStream;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;

class ReferencesTest {

    private static final CanvasRule SMALL = new CanvasRule(32, 32, 1024);

    @Property(tries = 150)
    void theStreamedVideoShowsTheListedFrames(@ForAll @IntRange(min = 1, max = 60) int frames, @ForAll @DoubleRange(min = 5, max = 90) double fps,
            @ForAll @IntRange(min = 1, max = 70) int limit) {
        Iterator<RgbImage> numbered = IntStream.range(0, frames).mapToObj(ReferencesTest::numbered).iterator();
        List<RgbImage> got = ReferenceVideos.normalised(numbered, fps, limit, 24, SMALL);
        int[] shown = got.stream().mapToInt(image -> image.at(0, 0, 0)).toArray();
        assertThat(shown).isEqualTo(ReferenceVideos.resampleIndices(frames, fps, limit, 24));
    }

    @Property(tries = 100)
    void resamplingKeepsTheDuration(@ForAll @IntRange(min = 1, max = 400) int frames, @ForAll @DoubleRange(min = 5, max = 90) double fps) {
        int[] indices = ReferenceVideos.resampleIndices(frames, fps, 100_000, 24);
        assertThat(Math.abs(indices.length / 24.0 - frames / fps)).isLessThanOrEqualTo(0.5 / 24 + 1e-9);
        assertThat(indices).isSorted();
    }

    @Example
    void readsNoFurtherThanNeeded() {
        Iterator<RgbImage> endless = new Iterator<>() {
            private int next;

            @Override
            public boolean hasNext() {
                return true;
            }

            @Override
            public RgbImage next() {
                if (next > 30) {
                    throw new AssertionError("read past what is shown");
                }
                return numbered(next++);
            }
        };
        assertThat(ReferenceVideos.normalised(endless, 30, 22, 24, SMALL)).hasSize(22);
    }

    @Example
    void videosThatCannotBeUsedAreRefused() {
        Iterator<RgbImage> none = Collections.emptyIterator();
        assertThatThrownBy(() -> ReferenceVideos.normalised(none, 24, 22, 24, SMALL)).isInstanceOf(BadRequestException.class)
                .hasMessageContaining("without frames");
        for (double fps : new double[] {0, -1, Double.NaN, Double.POSITIVE_INFINITY}) {
            assertThatThrownBy(() -> ReferenceVideos.resampleIndices(5, fps, 22, 24)).isInstanceOf(BadRequestException.class);
        }
        Iterator<RgbImage> wide = List.of(RgbImage.black(500, 100)).iterator();
        assertThatThrownBy(() -> ReferenceVideos.normalised(wide, 24, 22, 24, SMALL)).isInstanceOf(BadRequestException.class)
                .hasMessageContaining("1:4 to 4:1");
    }

    @Example
    void fivePointOneIsMixedDown() {
        float[][] channels = new float[6][64];
        float[] levels = {0.1f, 0.2f, 0.4f, 1, 0.5f, -0.5f};
        for (int c = 0; c < levels.length; c++) {
            Arrays.fill(channels[c], levels[c]);
        }
        Sound stereo = ReferenceSounds.normalised(new Sound(32_000, channels), 32_000, 1);
        double scale = 1 / (1 + Math.sqrt(2));
        assertThat(stereo.channelCount()).isEqualTo(2);
        assertThat((double) stereo.channel(0)[9]).isCloseTo(scale * (0.1 + Math.sqrt(0.5) * 0.9), within(1e-6));
        assertThat((double) stereo.channel(1)[9]).isCloseTo(scale * (0.2 - Math.sqrt(0.5) * 0.1), within(1e-6));
    }

    @Example
    void soundsThatCannotBeUsedAreRefused() {
        assertThatThrownBy(() -> ReferenceSounds.normalised(new Sound(32_000, new float[5][100]), 32_000, 1))
                .isInstanceOf(BadRequestException.class).hasMessageContaining("5 channels");
        assertThatThrownBy(() -> ReferenceSounds.normalised(new Sound(32_000, new float[1][0]), 32_000, 1))
                .isInstanceOf(BadRequestException.class).hasMessageContaining("without samples");
        assertThatThrownBy(() -> ReferenceSounds.normalised(new Sound(1_999_999_973, new float[1][9]), 32_000, 1))
                .isInstanceOf(BadRequestException.class).hasMessageContaining("Hz");
    }

    @Example
    void picturesOfExtremeShapeAreRefused() {
        assertThatThrownBy(() -> ReferenceImages.size(1, 5, 64, 32)).isInstanceOf(BadRequestException.class).hasMessageContaining("1x5");
        assertThat(ReferenceImages.size(1, 1, 64, 32)).isEqualTo(new PixelSize(64, 64));
        assertThatThrownBy(() -> SMALL.of(5, 1)).isInstanceOf(BadRequestException.class);
        assertThatThrownBy(() -> SMALL.of(0, 1)).isInstanceOf(BadRequestException.class);
    }

    @Property(tries = 200)
    void aCanvasFitsItsRule(@ForAll @DoubleRange(min = 0.25, max = 4) double ratio) {
        CanvasRule released = new CanvasRule(32, 768, 768 * 1344);
        PixelSize canvas = released.of(ratio, 1);
        assertThat(canvas.width() % 32).isZero();
        assertThat(canvas.height() % 32).isZero();
        // Rounding a side moves it by half a step at most.
        assertThat((long) (canvas.width() - 16) * (canvas.height() - 16)).isLessThanOrEqualTo(768 * 1344);
        assertThat(Math.min(canvas.width(), canvas.height())).isBetween(512, 768);
    }

    private static RgbImage numbered(int number) {
        RgbImage image = RgbImage.black(32, 32);
        Arrays.fill(image.rgb(), (byte) number);
        return image;
    }
}

package io.kinema.quality.picture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.kinema.media.image.RgbImage;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class PsnrSsimTest {
    @Test
    void psnrOfAKnownErrorIsTheClosedForm() {
        RgbImage reference = Pictures.waves(40, 30, 0);
        RgbImage candidate = Pictures.paint(40, 30, (x, y, c) -> reference.at(x, y, c) + (c == 0 ? 6 : 0));
        assertThat(SquaredError.of(candidate, reference)).isEqualTo(36L * 40 * 30);
        // One channel of three is off by 6: MSE 12.
        assertThat(FrameComparison.Score.of(candidate, reference).psnr()).isCloseTo(10 * Math.log10(255 * 255 / 12.0), within(1e-12));
        assertThat(FrameComparison.Score.of(reference, reference).psnr()).isInfinite();
    }

    @Property(tries = 30)
    void squaredErrorIsTheSumWrittenDown(@ForAll @IntRange(min = 1, max = 30) int width, @ForAll @IntRange(min = 1, max = 30) int height, @ForAll long seed) {
        RgbImage a = Pictures.noisy(Pictures.waves(width, height, 0), 80, seed);
        RgbImage b = Pictures.noisy(Pictures.waves(width, height, 1), 80, ~seed);
        long sum = 0;
        for (int i = 0; i < a.rgb().length; i++) {
            int d = Byte.toUnsignedInt(a.rgb()[i]) - Byte.toUnsignedInt(b.rgb()[i]);
            sum += (long) d * d;
        }
        assertThat(SquaredError.of(a, b)).isEqualTo(sum).isEqualTo(SquaredError.of(b, a));
    }

    @Test
    void theLargestErrorOfAWideRowDoesNotOverflow() {
        for (int width : new int[] {11_000, 11_001, 40_000}) {
            RgbImage white = Pictures.paint(width, 1, (x, y, c) -> 255);
            assertThat(SquaredError.of(white, RgbImage.black(width, 1))).isEqualTo(65025L * width * 3);
        }
    }

    @Property(tries = 12)
    void ssimIsTheDefinitionWrittenDown(@ForAll @IntRange(min = 11, max = 26) int width, @ForAll @IntRange(min = 11, max = 26) int height, @ForAll long seed) {
        RgbImage a = Pictures.noisy(Pictures.waves(width, height, 0), 30, seed);
        RgbImage b = Pictures.noisy(Pictures.waves(width, height, 2), 10, ~seed);
        for (SsimWindow window : new SsimWindow[] {SsimWindow.GAUSSIAN_11, SsimWindow.BLOCK_8}) {
            assertThat(Ssim.of(a, b, window)).as(window.name()).isCloseTo(direct(a, b, window), within(1e-10)).isCloseTo(Ssim.of(b, a, window), within(1e-12));
        }
        assertThat(Ssim.of(a, a)).isCloseTo(1, within(1e-12));
    }

    @Test
    void ssimOfTwoFlatPicturesIsTheLuminanceTerm() {
        RgbImage a = Pictures.paint(16, 16, (x, y, c) -> 100);
        RgbImage b = Pictures.paint(16, 16, (x, y, c) -> 120);
        double c1 = 2.55 * 2.55;
        assertThat(Ssim.of(a, b)).isCloseTo((2 * 100 * 120 + c1) / (100 * 100 + 120 * 120 + c1), within(1e-9));
    }

    @Test
    void theWorstFrameIsNamedAndTheMeanIsOverAllErrors() {
        FrameComparison comparison = new FrameComparison();
        for (int t = 0; t < 5; t++) {
            RgbImage reference = Pictures.waves(32, 32, t);
            comparison.add(t == 3 ? Pictures.noisy(reference, 20, 1) : reference, reference);
        }
        assertThat(comparison.psnrByFrame().worst()).isEqualTo(3);
        assertThat(comparison.ssimByFrame().worst()).isEqualTo(3);
        assertThat(comparison.psnrByFrame().get(0)).isInfinite();
        assertThat(comparison.psnr().orElseThrow()).isCloseTo(comparison.psnrByFrame().get(3) + 10 * Math.log10(5), within(1e-9));
    }

    @Test
    void framesBelowTheWindowHaveNoSsimAndOtherSizesAreRefused() {
        FrameComparison comparison = new FrameComparison();
        comparison.add(Pictures.waves(10, 40, 0), Pictures.waves(10, 40, 1));
        assertThat(comparison.ssim()).isEmpty();
        assertThat(comparison.psnr()).isPresent();
        assertThatThrownBy(() -> comparison.add(RgbImage.black(10, 40), RgbImage.black(40, 10))).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("40x10").hasMessageContaining("10x40");
    }

    /** Two-dimensional sums at each position, with nothing shared with the code under test but the window's weights. */
    private static double direct(RgbImage a, RgbImage b, SsimWindow window) {
        int n = window.size();
        double sum = 0;
        int count = 0;
        for (int c = 0; c < 3; c++) {
            for (int top = 0; top + n <= a.height(); top += window.step()) {
                for (int left = 0; left + n <= a.width(); left += window.step()) {
                    double ma = 0;
                    double mb = 0;
                    for (int y = 0; y < n; y++) {
                        for (int x = 0; x < n; x++) {
                            double w = window.taps()[x] * window.taps()[y];
                            ma += w * a.at(left + x, top + y, c);
                            mb += w * b.at(left + x, top + y, c);
                        }
                    }
                    double vaa = 0;
                    double vbb = 0;
                    double vab = 0;
                    for (int y = 0; y < n; y++) {
                        for (int x = 0; x < n; x++) {
                            double w = window.taps()[x] * window.taps()[y] * (window.unbiased() ? n * n / (n * n - 1.0) : 1);
                            double da = a.at(left + x, top + y, c) - ma;
                            double db = b.at(left + x, top + y, c) - mb;
                            vaa += w * da * da;
                            vbb += w * db * db;
                            vab += w * da * db;
                        }
                    }
                    sum += (2 * ma * mb + 6.5025) * (2 * vab + 58.5225) / ((ma * ma + mb * mb + 6.5025) * (vaa + vbb + 58.5225));
                    count++;
                }
            }
        }
        return sum / count;
    }
}

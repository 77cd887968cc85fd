package io.kinema.quality;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.kinema.media.audio.Sound;
import io.kinema.media.image.RgbImage;
import io.kinema.quality.picture.FrameComparison;
import io.kinema.quality.picture.Pictures;
import io.kinema.quality.sound.RmsRatio;
import io.kinema.quality.sound.Sounds;
import io.kinema.quality.sound.SpectralCosine;
import io.kinema.quality.tensor.RelativeL2;
import org.junit.jupiter.api.Test;

/** The numbers of scripts/measures.py, which computes the same measures of the same formulas with NumPy. */
class NumpyAgreementTest {
    private static final int SAMPLES = 12_345;

    @Test
    void soundIsMeasuredAsNumpyDoes() {
        Sound candidate = new Sound(Sounds.RATE, new float[][] {Sounds.samples(SAMPLES, i -> 0.3 * Math.sin(0.05 * i + 2e-6 * i * i)),
                Sounds.samples(SAMPLES, i -> 0.2 * Math.sin(0.31 * i) * Math.exp(-i / 5000.0))});
        Sound reference = new Sound(Sounds.RATE, new float[][] {Sounds.samples(SAMPLES, i -> 0.28 * Math.sin(0.05 * i + 2e-6 * i * i) + 0.05 * Math.sin(1.1 * i)),
                Sounds.samples(SAMPLES, i -> 0.2 * Math.sin(0.3101 * i + 0.3) * Math.exp(-i / 5000.0))});
        assertThat(SpectralCosine.of(candidate, reference)).isCloseTo(0.9854177487029636, within(1e-9));
        RmsRatio ratio = RmsRatio.of(candidate, reference);
        assertThat(ratio.channels().get(0)).isCloseTo(1.0547281319454935, within(1e-9));
        assertThat(ratio.channels().get(1)).isCloseTo(0.9998021459352653, within(1e-9));
        assertThat(ratio.joint()).isCloseTo(1.049877781216965, within(1e-9));
    }

    @Test
    void picturesAreMeasuredAsNumpyDoes() {
        RgbImage candidate = Pictures.paint(24, 20, (x, y, c) -> Math.rint(128 + 90 * Math.sin(0.7 * x + 0.9 * c) * Math.cos(0.4 * y)));
        RgbImage reference = Pictures.paint(24, 20, (x, y, c) -> Math.rint(128 + 80 * Math.sin(0.7 * x + 0.9 * c + 0.3) * Math.cos(0.4 * y) + 9 * c));
        FrameComparison.Score score = FrameComparison.Score.of(candidate, reference);
        assertThat(score.ssim()).isCloseTo(0.9436550753341915, within(1e-12));
        assertThat(score.psnr()).isCloseTo(23.0853493238758, within(1e-12));
        assertThat(RelativeL2.of(floats(candidate), floats(reference))).isCloseTo(0.12477372843344843, within(1e-12));
    }

    private static float[] floats(RgbImage image) {
        float[] out = new float[image.rgb().length];
        for (int i = 0; i < out.length; i++) {
            out[i] = image.rgb()[i] & 0xff;
        }
        return out;
    }
}

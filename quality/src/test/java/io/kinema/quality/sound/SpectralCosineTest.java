package io.kinema.quality.sound;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.kinema.media.audio.Sound;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class SpectralCosineTest {
    @Property(tries = 20)
    void theTransformIsTheSumWrittenDown(@ForAll @IntRange(min = 1, max = 7) int log, @ForAll long seed) {
        int n = 1 << log;
        Random random = new Random(seed);
        double[] re = random.doubles(n, -1, 1).toArray();
        double[] im = random.doubles(n, -1, 1).toArray();
        double[] outRe = re.clone();
        double[] outIm = im.clone();
        new Fft(n).forward(outRe, outIm);
        for (int k = 0; k < n; k++) {
            double sumRe = 0;
            double sumIm = 0;
            for (int i = 0; i < n; i++) {
                double angle = -2 * Math.PI * i * k / n;
                sumRe += re[i] * Math.cos(angle) - im[i] * Math.sin(angle);
                sumIm += re[i] * Math.sin(angle) + im[i] * Math.cos(angle);
            }
            assertThat(outRe[k]).isCloseTo(sumRe, within(1e-11));
            assertThat(outIm[k]).isCloseTo(sumIm, within(1e-11));
        }
    }

    @Test
    void twoTonesOnBinsAreTheClosedForm() {
        // Bins 64 and 256 of 2048 at 32 kHz. A Hann window spreads each over three bins as A/4 * (1, 2, 1) * 2048 / 2, and bins that far apart
        // do not meet, so the cosine of (a, b) and (c, d) is that of plane vectors.
        double a = 0.3;
        double b = 0.1;
        double c = 0.1;
        double d = 0.25;
        int whole = 2048 + 512 * 20;
        Sound candidate = two(whole, a, b);
        Sound reference = two(whole, c, d);
        double expected = (a * c + b * d) / (Math.hypot(a, b) * Math.hypot(c, d));
        assertThat(SpectralCosine.of(candidate, reference)).isCloseTo(expected, within(1e-6));
    }

    private static Sound two(int length, double low, double high) {
        return Sounds.mono(Sounds.samples(length, i -> low * Math.sin(2 * Math.PI * 64 * i / 2048.0) + high * Math.cos(2 * Math.PI * 256 * i / 2048.0)));
    }

    @Property(tries = 10)
    void phaseAndGainDoNotCountAndOrderDoesNotMatter(@ForAll @DoubleRange(min = 0.05, max = 2) double gain, @ForAll long seed) {
        float[] x = Sounds.noise(20_000, 0.1, seed);
        float[] scaled = Sounds.samples(x.length, i -> -gain * x[i]);
        float[] other = Sounds.noise(20_000, 0.1, ~seed);
        assertThat(SpectralCosine.of(Sounds.mono(scaled), Sounds.mono(x))).isCloseTo(1, within(1e-9));
        assertThat(SpectralCosine.of(Sounds.mono(x), Sounds.mono(x))).isBetween(1 - 2e-14, 1.0);
        assertThat(SpectralCosine.of(Sounds.mono(x), Sounds.mono(other))).isLessThan(0.9)
                .isCloseTo(SpectralCosine.of(Sounds.mono(other), Sounds.mono(x)), within(1e-12));
    }

    @Test
    void silence() {
        Sound silent = Sounds.mono(new float[5000]);
        Sound loud = Sounds.mono(Sounds.tone(5000, 440, 0.5));
        assertThat(SpectralCosine.of(silent, silent)).isEqualTo(1);
        assertThat(SpectralCosine.of(silent, loud)).isZero();
        assertThat(SpectralCosine.of(loud, silent)).isZero();
        assertThat(RmsRatio.of(silent, silent).farthest()).isEqualTo(1);
        assertThat(RmsRatio.of(loud, silent).joint()).isInfinite();
        assertThat(RmsRatio.of(silent, loud).joint()).isZero();
    }

    @Test
    void everySampleCountsEvenTheLastOfALengthThatFitsNoHop() {
        float[] x = Sounds.tone(2048 + 700, 1000, 0.1);
        float[] y = x.clone();
        y[y.length - 1] += 1;
        assertThat(SpectralCosine.of(Sounds.mono(y), Sounds.mono(x))).isLessThan(1 - 1e-9);
    }

    @Test
    void aNaNNeverPasses() {
        float[] x = Sounds.tone(5000, 440, 0.5);
        x[100] = Float.NaN;
        assertThat(SpectralCosine.of(Sounds.mono(x), Sounds.mono(Sounds.tone(5000, 440, 0.5)))).isNaN();
        assertThat(RmsRatio.of(Sounds.mono(x), Sounds.mono(Sounds.tone(5000, 440, 0.5))).farthest()).isNaN();
    }

    @Test
    void theFarthestChannelDecidesTheRmsRatio() {
        float[] x = Sounds.tone(4000, 440, 0.5);
        Sound reference = new Sound(Sounds.RATE, new float[][] {x, x});
        Sound candidate = new Sound(Sounds.RATE, new float[][] {x, Sounds.samples(4000, i -> 1.02 * x[i])});
        RmsRatio ratio = RmsRatio.of(candidate, reference);
        assertThat(ratio.farthest()).isCloseTo(1.02, within(1e-6));
        assertThat(ratio.joint()).isCloseTo(Math.sqrt((1 + 1.02 * 1.02) / 2), within(1e-6));
    }

    @Test
    void soundsThatAreNotAlikeAreRefused() {
        Sound x = Sounds.mono(new float[100]);
        assertThatThrownBy(() -> SpectralCosine.of(x, Sounds.mono(new float[101]))).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("100 samples").hasMessageContaining("101 samples");
        assertThatThrownBy(() -> RmsRatio.of(x, new Sound(48000, new float[][] {new float[100]}))).isInstanceOf(IllegalArgumentException.class);
    }
}

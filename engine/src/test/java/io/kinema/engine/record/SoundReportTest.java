package io.kinema.engine.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class SoundReportTest {
    private static final int RATE = 32_000;

    private static float[] sine(double hertz, double amplitude, double seconds) {
        float[] x = new float[(int) (seconds * RATE)];
        for (int i = 0; i < x.length; i++) {
            x[i] = (float) (amplitude * Math.sin(2 * Math.PI * hertz * i / RATE));
        }
        return x;
    }

    @Test
    void aSineOfTheRecommendationReadsItsLevel() {
        // BS.1770: a 997 Hz sine at 0 dBFS in one channel reads -3.01 LKFS.
        float[] full = sine(997, 1, 2);
        assertThat(SoundReport.of(full, new float[full.length], RATE).loudnessLufs()).isCloseTo(-3.01, within(0.02));
        float[] soft = sine(997, 0.1, 2);
        assertThat(SoundReport.of(soft, soft, RATE).loudnessLufs()).isCloseTo(-20.0, within(0.02));
    }

    @Test
    void silenceHasNoLoudnessAndNoFault() {
        SoundReport report = SoundReport.of(new float[RATE], new float[RATE], RATE);
        assertThat(report.loudnessLufs()).isEqualTo(Double.NEGATIVE_INFINITY);
        assertThat(report.clicks()).isZero();
        assertThat(report.clipped()).isFalse();
    }

    @Test
    void fullScaleSamplesAreCountedAndJudged() {
        float[] x = sine(440, 0.5, 1);
        for (int i = 0; i < 32; i++) {
            x[i * 7] = i % 2 == 0 ? 1f : -1f;
        }
        SoundReport atTheLimit = SoundReport.of(x, sine(440, 0.5, 1), RATE);
        assertThat(atTheLimit.fullScale()).isEqualTo(32);
        assertThat(atTheLimit.clipped()).isFalse();
        float[] more = x.clone();
        for (int i = 0; i < 65; i++) {
            more[1000 + i] = 1f;
        }
        assertThat(SoundReport.of(more, sine(440, 0.5, 1), RATE).clipped()).isTrue();
    }

    @Test
    void clicksAreCountedAndTonesAreNot() {
        float[] tone = sine(3000, 0.8, 1);
        assertThat(SoundReport.of(tone, tone, RATE).clicks()).isZero();
        float[] popping = sine(220, 0.3, 1);
        for (int at : new int[] {5000, 12_000, 20_000}) {
            popping[at] += 0.6f;
        }
        assertThat(SoundReport.of(popping, sine(220, 0.3, 1), RATE).clicks()).isEqualTo(3);
    }
}

package io.kinema.quality.sound;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.kinema.media.audio.Sound;
import org.junit.jupiter.api.Test;

class LevelsTest {
    @Test
    void aToneHasTheRmsOfASine() {
        Levels levels = Levels.of(Sounds.mono(Sounds.tone(32_000, 500, 0.5)));
        assertThat(levels.rms()).isCloseTo(0.5 / Math.sqrt(2), within(1e-6));
        assertThat(levels.peak()).isCloseTo(0.5, within(1e-6));
        assertThat(levels.rmsDb()).isCloseTo(-9.03, within(0.01));
        assertThat(levels.clipped()).isFalse();
    }

    /** Field report 7: blown, popping, clipped sound went unnoticed. */
    @Test
    void fieldReport7ClippedSoundIsCountedAndCalledClippedAboveATenthOfAPercent() {
        float[] tone = Sounds.samples(32_000, i -> Math.clamp(1.5 * Math.sin(2 * Math.PI * 100 * i / 32_000.0), -1, 1));
        Levels levels = Levels.of(Sounds.mono(tone));
        // |1.5 sin| >= 1 for 1 - 2 asin(2/3) / pi of the time, in two runs of one sign each period of 320 samples.
        assertThat(levels.fullScaleShare()).isCloseTo(1 - 2 * Math.asin(2 / 3.0) / Math.PI, within(0.01));
        assertThat(levels.longestRun()).isBetween(80, 90);
        assertThat(levels.clipped()).isTrue();
        float[] barely = new float[10_000];
        for (int i = 0; i < 10; i++) {
            barely[i * 100] = 1;
        }
        assertThat(Levels.of(Sounds.mono(barely)).clipped()).isFalse();
        barely[9999] = -1;
        assertThat(Levels.of(Sounds.mono(barely)).clipped()).isTrue();
    }

    @Test
    void oneSampleIsARunOfOneAndAChangeOfSignEndsARun() {
        assertThat(Levels.of(Sounds.mono(new float[] {0, 1, 0})).longestRun()).isOne();
        assertThat(Levels.of(Sounds.mono(new float[] {1, 1, -1, -1, -1, 0.5f, -1})).longestRun()).isEqualTo(3);
    }

    @Test
    void samplesThatAreNoNumbersAreCountedAndLeftOut() {
        Levels levels = Levels.of(new Sound(100, new float[][] {{Float.NaN, 0.5f}, {Float.POSITIVE_INFINITY, -0.5f}}));
        assertThat(levels.nonFinite()).isEqualTo(2);
        assertThat(levels.peak()).isEqualTo(0.5);
    }
}

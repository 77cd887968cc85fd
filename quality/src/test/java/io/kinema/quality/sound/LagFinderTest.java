package io.kinema.quality.sound;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class LagFinderTest {
    private static final LagFinder FINDER = new LagFinder(Sounds.RATE, 0.5);

    @Property(tries = 20)
    void findsADelayToTheSample(@ForAll @IntRange(min = -12_000, max = 12_000) int delay, @ForAll long seed) {
        float[] x = Sounds.noise(40_000, 0.2, seed);
        float[] late = Sounds.samples(x.length, i -> i - delay >= 0 && i - delay < x.length ? x[i - delay] : 0);
        Lag lag = FINDER.find(Sounds.mono(late), Sounds.mono(x), 0, x.length).orElseThrow();
        assertThat(lag.seconds() * Sounds.RATE).isCloseTo(delay, within(0.2));
        assertThat(lag.trusted()).isTrue();
    }

    @Test
    void aSteadyToneHasNoLagThoughEveryPeriodFits() {
        Lag lag = FINDER.find(Sounds.mono(Sounds.tone(40_000, 320, 0.5)), Sounds.mono(Sounds.tone(40_000, 320, 0.5)), 0, 40_000).orElseThrow();
        assertThat(lag.seconds()).isCloseTo(0, within(1e-6));
        assertThat(lag.correlation()).isCloseTo(1, within(1e-9));
    }

    @Test
    void silenceHasNoLagAndStrangersAreNotTrusted() {
        assertThat(FINDER.find(Sounds.mono(new float[1000]), Sounds.mono(Sounds.noise(1000, 1, 1)), 0, 1000)).isEmpty();
        assertThat(FINDER.find(Sounds.mono(Sounds.noise(9000, 1, 2)), Sounds.mono(Sounds.noise(9000, 1, 1)), 0, 9000).orElseThrow().trusted()).isFalse();
    }

    @Test
    void aStretchBeyondTheEndIsSilence() {
        float[] x = Sounds.noise(5000, 0.2, 3);
        assertThat(FINDER.find(Sounds.mono(x), Sounds.mono(x), 6000, 1000)).isEmpty();
        assertThat(FINDER.find(Sounds.mono(x), Sounds.mono(x), 4000, 4000).orElseThrow().seconds()).isCloseTo(0, within(1e-6));
    }
}

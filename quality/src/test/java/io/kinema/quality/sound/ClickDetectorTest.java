package io.kinema.quality.sound;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.media.audio.Sound;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class ClickDetectorTest {
    private static final int LENGTH = Sounds.RATE;

    @Property(tries = 60)
    void findsAStepInAToneWhereItIs(@ForAll @DoubleRange(min = 50, max = 800) double hertz, @ForAll @DoubleRange(min = 0.2, max = 0.6) double step,
            @ForAll @IntRange(min = 100, max = LENGTH - 100) int at) {
        float[] tone = Sounds.tone(LENGTH, hertz, 0.3);
        float[] broken = Sounds.samples(LENGTH, i -> tone[i] + (i >= at ? step : 0));
        assertThat(ClickDetector.find(Sounds.mono(broken))).singleElement().satisfies(click -> {
            assertThat(click.sample()).isBetween(at - 1, at + 1);
            assertThat(click.jump()).isGreaterThan(step / 2);
        });
    }

    @Property(tries = 60)
    void findsASpikeInQuietNoise(@ForAll @DoubleRange(min = 0.1, max = 0.9) double height, @ForAll @IntRange(min = 100, max = LENGTH - 100) int at, @ForAll long seed) {
        float[] x = Sounds.noise(LENGTH, 0.002, seed);
        x[at] += (float) height;
        Sound sound = new Sound(Sounds.RATE, new float[][] {new float[LENGTH], x});
        assertThat(ClickDetector.find(sound)).singleElement().satisfies(click -> {
            assertThat(click.channel()).isOne();
            assertThat(click.sample()).isEqualTo(at);
        });
    }

    @Property(tries = 30)
    void findsAGapInAToneAtBothEnds(@ForAll @DoubleRange(min = 100, max = 500) double hertz, @ForAll @IntRange(min = 2000, max = 20_000) int at) {
        float[] tone = Sounds.tone(LENGTH, hertz, 0.5);
        // A gap of 30 ms that begins and ends where the tone is at its top.
        int period = (int) Math.round(Sounds.RATE / hertz);
        int from = at / period * period + period / 4;
        int to = from + (int) Math.ceil(960.0 / period) * period;
        float[] broken = Sounds.samples(LENGTH, i -> i >= from && i < to ? 0 : tone[i]);
        if (Math.abs(tone[from]) > 0.3 && Math.abs(tone[to]) > 0.3) {
            assertThat(ClickDetector.find(Sounds.mono(broken))).extracting(Click::sample).satisfiesExactly(
                    first -> assertThat((int) first).isBetween(from - 1, from + 1), second -> assertThat((int) second).isBetween(to - 1, to + 1));
        }
    }

    @Property(tries = 40)
    void tonesNoiseAndAttacksAreNoClicks(@ForAll @DoubleRange(min = 20, max = 12_000) double hertz, @ForAll @DoubleRange(min = 0.01, max = 1) double amplitude,
            @ForAll long seed) {
        assertThat(ClickDetector.find(Sounds.mono(Sounds.tone(LENGTH, hertz, amplitude)))).isEmpty();
        assertThat(ClickDetector.find(Sounds.mono(Sounds.noise(LENGTH, amplitude / 4, seed)))).isEmpty();
        float[] noise = Sounds.noise(LENGTH, amplitude / 4, ~seed);
        float[] burst = Sounds.samples(LENGTH, i -> i < 16_000 ? 0 : noise[i] * Math.exp((16_000 - i) / 1600.0));
        assertThat(ClickDetector.find(Sounds.mono(burst))).isEmpty();
    }

    @Property(tries = 40)
    void aClinkThatRingsForMillisecondsIsNoClick(@ForAll @DoubleRange(min = 2000, max = 9000) double hertz, @ForAll long seed) {
        double phase = new Random(seed).nextDouble() * Math.PI;
        float[] clink = Sounds.samples(LENGTH, i -> i < 10_000 ? 0
                : 0.2 * Math.exp((10_000 - i) / 100.0) * Math.min(1, (i - 10_000) / 12.0) * Math.sin(2 * Math.PI * hertz * i / Sounds.RATE + phase));
        assertThat(ClickDetector.find(Sounds.mono(clink))).isEmpty();
    }

    @Test
    void silenceAndTheShortestSoundsHaveNone() {
        assertThat(ClickDetector.find(Sounds.mono(new float[10_000]))).isEmpty();
        assertThat(ClickDetector.find(Sounds.mono(new float[] {1}))).isEmpty();
        assertThat(ClickDetector.find(Sounds.mono(new float[0]))).isEmpty();
    }
}

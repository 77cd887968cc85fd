package io.kinema.media.audio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.From;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.constraints.FloatRange;
import net.jqwik.api.constraints.IntRange;

class SincResamplerProperties {

    @Provide
    Arbitrary<Integer> rates() {
        return Arbitraries.of(8000, 11_025, 16_000, 22_050, 24_000, 32_000, 37_123, 44_100, 48_000, 96_000);
    }

    @Property(tries = 60)
    void theLengthFollowsTheRates(@ForAll @From("rates") int from, @ForAll @From("rates") int to, @ForAll @IntRange(min = 1, max = 3000) int length) {
        Sound out = new SincResampler(from, to).resample(new Sound(from, new float[2][length]));
        assertThat(out.sampleRate()).isEqualTo(to);
        assertThat((long) out.length() * from).isBetween((long) length * to, (long) length * to + from);
    }

    @Property(tries = 40)
    void aConstantStaysAwayFromTheEnds(@ForAll @From("rates") int from, @ForAll @From("rates") int to,
            @ForAll @FloatRange(min = -1, max = 1) float level) {
        float[] samples = new float[4000];
        Arrays.fill(samples, level);
        Sound out = new SincResampler(from, to).resample(new Sound(from, new float[][] {samples}));
        float[] inside = Arrays.copyOfRange(out.channel(0), out.length() / 3, out.length() / 2);
        for (float sample : inside) {
            assertThat(sample).isCloseTo(level, within(2e-3f));
        }
    }

    @Property(tries = 30)
    void aLowToneKeepsItsPhase(@ForAll @From("rates") int from, @ForAll @From("rates") int to) {
        float[] samples = new float[from / 4];
        for (int i = 0; i < samples.length; i++) {
            samples[i] = (float) Math.sin(2 * Math.PI * 300 * i / from);
        }
        Sound out = new SincResampler(from, to).resample(new Sound(from, new float[][] {samples}));
        for (int i = out.length() / 3; i < out.length() / 2; i++) {
            assertThat((double) out.channel(0)[i]).isCloseTo(Math.sin(2 * Math.PI * 300 * i / to), within(5e-3));
        }
    }

    @Example
    void absurdRatesAreRefused() {
        assertThatThrownBy(() -> new SincResampler(0, 32_000)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new SincResampler(1_999_999_973, 32_000)).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("too far apart");
    }
}

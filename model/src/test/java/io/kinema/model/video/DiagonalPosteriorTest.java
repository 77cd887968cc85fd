package io.kinema.model.video;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kinema.model.LatentStatistics;
import org.junit.jupiter.api.Test;

class DiagonalPosteriorTest {
    private final DiagonalPosterior posterior = DiagonalPosterior.of(new float[] {1, 2, 0.1f, 4, 0, (float) Math.log(4), 100, -100});

    @Test
    void samplesMeanPlusDeviationTimesNoise() {
        float[] sample = posterior.sample(new float[] {1, -1, 1, 1});
        assertThat(sample[0]).isEqualTo(2);
        assertThat(sample[1]).isEqualTo(0);
        assertThat(sample[2]).as("log variance is clamped to 20").isEqualTo(0.1f + (float) Math.exp(10));
        assertThat(sample[3]).as("log variance is clamped to -30").isEqualTo(4 + (float) Math.exp(-15));
        assertThat(posterior.mean()).containsExactly(1, 2, 0.1f, 4);
    }

    @Test
    void conditionsAreRoundedToHalfBeforeTheyAreNormalised() {
        LatentStatistics statistics = new LatentStatistics(new float[] {0, 0.5f}, new float[] {1, 2});
        float[] latents = posterior.conditionLatents(new float[4], statistics, 2);
        float tenth = Float.float16ToFloat(Float.floatToFloat16(0.1f));
        assertThat(latents).containsExactly(1, 2, (tenth - 0.5f) / 2, 1.75f);
        assertThat(latents[2]).isNotEqualTo((0.1f - 0.5f) / 2);
        assertThat(statistics.denormalise(latents, 2)).containsExactly(1, 2, latents[2] * 2 + 0.5f, 4);
    }

    @Test
    void refusesNoiseOfAnotherLength() {
        assertThatThrownBy(() -> posterior.sample(new float[3])).hasMessageContaining("got 3 noise values, expected 4");
    }
}

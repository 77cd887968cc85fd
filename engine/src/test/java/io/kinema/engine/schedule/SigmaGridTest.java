package io.kinema.engine.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.engine.golden.GoldenCase;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

class SigmaGridTest {
    @Test
    void gridsHaveTheReferencesBits() {
        try (GoldenCase golden = GoldenCase.open("scheduler/grid")) {
            for (JsonNode check : golden.checks("sigmas")) {
                assertThat(grid(check).sigmas()).as(check.at("/out/at").asText()).containsExactly(golden.floats(check.at("/out/at").asText()));
            }
            for (JsonNode check : golden.checks("timesteps")) {
                assertThat(grid(check).timesteps()).as(check.at("/out/at").asText()).containsExactly(golden.floats(check.at("/out/at").asText()));
            }
        }
    }

    @Test
    void stepsHaveTheReferencesBits() {
        try (GoldenCase golden = GoldenCase.open("scheduler/steps")) {
            for (JsonNode check : golden.checks("step")) {
                float[] sample = golden.floats(check.at("/in/sample").asText());
                grid(check).step(check.at("/args/index").asInt()).apply(sample, golden.floats(check.at("/in/model_output").asText()));
                assertThat(sample).as(check.at("/out/at").asText()).containsExactly(golden.floats(check.at("/out/at").asText()));
            }
            for (JsonNode check : golden.checks("scale_noise")) {
                assertThat(FlowNoise.mix(golden.floats(check.at("/in/sample").asText()), golden.floats(check.at("/in/noise").asText()),
                        check.at("/args/t").asDouble())).as(check.at("/out/at").asText())
                        .containsExactly(golden.floats(check.at("/out/at").asText()));
            }
        }
    }

    @Test
    void oneEvaluationIsOneStepToTheDenoisedSample() {
        SigmaGrid grid = SigmaGrid.ofEvaluations(1, 12);
        assertThat(grid.sigmas()).containsExactly(1, 0);
        float[] sample = {2, -1};
        grid.step(0).apply(sample, new float[] {0.5f, 4});
        assertThat(sample).containsExactly(2.5f, 3f);
    }

    @Property(tries = 300)
    void everyGridFallsFromOneToZero(@ForAll @IntRange(min = 1, max = 400) int evaluations,
            @ForAll @DoubleRange(min = 0.5, max = 100) double shift) {
        float[] sigmas = SigmaGrid.ofEvaluations(evaluations, shift).sigmas();
        assertThat(sigmas[0]).isCloseTo(1f, Offset.offset(1e-6f));
        assertThat(sigmas[sigmas.length - 1]).isZero();
        for (int i = 1; i < sigmas.length; i++) {
            assertThat(sigmas[i]).isLessThan(sigmas[i - 1]);
        }
    }

    @Test
    void explicitSigmasAreTakenAsTheyAre() {
        SigmaGrid grid = SigmaGrid.of(0.9f, 0.3f, 0f);
        assertThat(grid.evaluations()).isEqualTo(2);
        assertThat(grid.timesteps()).containsExactly(1 - 0.9f, 1 - 0.3f);
        assertThat(grid.step(1).ratio()).isZero();
    }

    @Test
    void wrongGridsAreRefusedByName() {
        assertThatThrownBy(() -> SigmaGrid.of(0.5f, 0.5f, 0f)).hasMessageContaining("fall strictly");
        assertThatThrownBy(() -> SigmaGrid.of(0.5f, 0.1f)).hasMessageContaining("end at 0.0");
        assertThatThrownBy(() -> SigmaGrid.of(Float.NaN, 0f)).hasMessageContaining("fall strictly");
        assertThatThrownBy(() -> SigmaGrid.of(0f)).hasMessageContaining("two finite values");
        assertThatThrownBy(() -> SigmaGrid.ofPoints(1, 12)).hasMessageContaining("got 1");
        assertThatThrownBy(() -> SigmaGrid.ofEvaluations(0, 12)).hasMessageContaining("got 0");
        assertThatThrownBy(() -> SigmaGrid.ofPoints(4, 0)).hasMessageContaining("shift: got 0.0");
        assertThatThrownBy(() -> SigmaGrid.ofPoints(4, Double.NaN)).hasMessageContaining("shift: got NaN");
    }

    private static SigmaGrid grid(JsonNode check) {
        JsonNode explicit = check.at("/args/sigmas");
        if (!explicit.isMissingNode()) {
            float[] sigmas = new float[explicit.size()];
            for (int i = 0; i < sigmas.length; i++) {
                sigmas[i] = (float) explicit.get(i).asDouble();
            }
            return SigmaGrid.of(sigmas);
        }
        return SigmaGrid.ofPoints(check.at("/args/points").asInt(), check.at("/args/shift").asDouble());
    }

    @Test
    void distilledLevelsAreShiftedOneByOne() {
        assertThat(SigmaGrid.ofLevels(List.of(1., .75, .5, .25, 0.), 6).sigmas()).isEqualTo(SigmaGrid.ofEvaluations(4, 6).sigmas());
        assertThat(SigmaGrid.ofLevels(List.of(1., .875, .75, .625, .5, .375, .25, .125, 0.), 12).sigmas()).isEqualTo(SigmaGrid.ofEvaluations(8, 12).sigmas());
        assertClose(SigmaGrid.ofLevels(List.of(1., .7, .4, .15, 0.), 12), 1, .965517, .888889, .679245, 0);
        assertClose(SigmaGrid.ofLevels(List.of(1., .7, .4, .15, 0.), 3), 1, .875, .666667, .346154, 0);
        assertClose(SigmaGrid.ofLevels(List.of(.999, .749, .5, .25, 0.), 12), .9999166, .9728325, .923077, .8, 0);
        assertClose(SigmaGrid.ofLevels(List.of(.999, .749, .5, .25, 0.), 3), .9996664, .8995196, .75, .5, 0);
    }

    private static void assertClose(SigmaGrid grid, double... expected) {
        float[] sigmas = grid.sigmas();
        assertThat(sigmas).hasSize(expected.length);
        for (int i = 0; i < expected.length; i++) {
            assertThat((double) sigmas[i]).isCloseTo(expected[i], within(1e-6));
        }
    }
}

package io.kinema.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.kinema.engine.layout.Anchor;
import io.kinema.engine.layout.PackedLayout;
import io.kinema.engine.layout.Target;
import io.kinema.engine.model.ModelGeometry;
import io.kinema.engine.record.SoundReport;
import io.kinema.engine.record.StepRecord;
import io.kinema.engine.schedule.SigmaGrid;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** More of how requests fail people in other engines; {@link FieldReportsTest} has those about media and sizes. */
class RequestReportsTest {
    private static final ModelGeometry NANO = Geometries.nano();

    /** Field report 4: the last keyframe was ignored, and index -1 treated as 0. */
    @Test
    void report04EveryKeyframeStandsAtItsOwnTime() {
        int[] text = {1, 1, 1};
        Target target = new Target(7, 16, 16, 37);
        double end = 3 + (1 + 4 + 4 + 4 + 4 + 1 + 4) * 5 / 3.0 - 5 / 3.0;
        assertThat(times(PackedLayout.ofKeyframes(text, target, NANO.patch(), List.of(Anchor.FIRST)))).containsExactly(3.0);
        assertThat(times(PackedLayout.ofKeyframes(text, target, NANO.patch(), List.of(Anchor.LAST)))).singleElement()
                .satisfies(t -> assertThat(t).isCloseTo(end, within(1e-9)));
        assertThat(times(PackedLayout.ofKeyframes(text, target, NANO.patch(), List.of(Anchor.FIRST, Anchor.LAST)))).hasSize(2);
    }

    /** Field reports 6 and 8: sound stepped down the video's schedule; "steps" meant grid points here and evaluations there. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void report06And08EveryEvaluationIsCountedOnceAndHasTwoSigmas(int steps) {
        try (H3Engine engine = H3Engine.open(EngineOptions.builder().model(Geometries.NANO).threads(2).build())) {
            Clip clip = engine.generate(GenerateRequest.prompt("A red circle").frames(22).steps(steps).build());
            List<StepRecord> made = clip.record().steps();
            float[] video = SigmaGrid.ofEvaluations(steps, 12).sigmas();
            float[] audio = SigmaGrid.ofEvaluations(steps, 3).sigmas();
            assertThat(made).hasSize(steps);
            assertThat(clip.record().schedule().sigmas()).hasSize(steps + 1).last().isEqualTo(0f);
            assertThat(clip.record().schedule().audioSigmas()).hasSize(steps + 1);
            for (int i = 0; i < steps; i++) {
                assertThat(made.get(i).sigma()).isEqualTo(video[i]);
                assertThat(made.get(i).audioSigma()).isEqualTo(audio[i]);
            }
            if (steps > 1) {
                assertThat(video[1]).isNotEqualTo(audio[1]);
            }
        }
    }

    /** Field report 7: blown, popping, clipped sound went unnoticed. */
    @Test
    void report07ClippedSoundIsMeasuredAndWarnedOf() {
        float[] blown = new float[32_000];
        Arrays.fill(blown, 0, 70, 1f);
        SoundReport report = SoundReport.of(blown, new float[32_000], 32_000);
        assertThat(report.fullScale()).isEqualTo(70);
        assertThat(report.fullScaleShare()).isGreaterThan(0.001);
        assertThat(report.clipped()).isTrue();
        assertThat(SoundReport.of(new float[32_000], new float[32_000], 32_000).clipped()).isFalse();
    }

    /** Rotary times of the condition rows. */
    private static Set<Double> times(PackedLayout layout) {
        Set<Double> times = new HashSet<>();
        double[] positions = layout.positions();
        int[] video = layout.videoIndices();
        for (int i = 0; i < layout.conditionVideoRows(); i++) {
            times.add(positions[3 * video[i]]);
        }
        return times;
    }
}

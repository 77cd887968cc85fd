package io.kinema.engine.pipeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.kinema.compute.Backend;
import io.kinema.compute.Precision;
import io.kinema.compute.reference.ReferenceBackend;
import io.kinema.engine.Cancellation;
import io.kinema.engine.CancelledException;
import io.kinema.engine.Geometries;
import io.kinema.engine.GraphReplay;
import io.kinema.engine.Progress;
import io.kinema.engine.ProgressListener;
import io.kinema.engine.layout.Anchor;
import io.kinema.engine.layout.PackedLayout;
import io.kinema.engine.layout.Patch;
import io.kinema.engine.layout.Target;
import io.kinema.engine.model.Component;
import io.kinema.engine.model.ModelFolder;
import io.kinema.engine.schedule.SigmaGrid;
import io.kinema.model.NonFiniteException;
import io.kinema.model.dit.Dit;
import io.kinema.model.dit.DitConfig;
import io.kinema.model.load.Parameters.Rounding;
import io.kinema.weights.Checkpoint;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The loop alone, on stored text states and start rows of the golden pipelines. */
class DenoisePlanTest {
    private final Backend backend = new ReferenceBackend();

    @ParameterizedTest
    @CsvSource({"t2va, ''", "fl2va_first, FIRST", "fl2va_last, LAST", "fl2va_both, FIRST LAST"})
    void followsTheGoldenTrajectory(String name, String anchors) {
        try (Case golden = new Case(name, anchors); DenoisePlan plan = golden.plan(true)) {
            List<String> seen = new ArrayList<>();
            DenoisePlan.Denoised end = plan.run(golden.tensors.floats("trajectory", "video_rows_0"), golden.tensors.floats("trajectory", "audio_rows_0"),
                    new Clock(ProgressListener.NONE, new Cancellation()), new PipelineTap() {
                        @Override
                        public void floats(String stage, float[] values, long... shape) {
                            if (golden.tensors.has("trajectory", stage)) {
                                seen.add(stage);
                                assertThat(GoldenTensors.relative(values, golden.tensors.floats("trajectory", stage))).as(stage).isLessThan(1e-5);
                            }
                        }
                    });
            assertThat(seen).contains("video_rows_0", "audio_rows_0");
            assertThat(end.steps().getFirst()).hasSize(4);
            float[] latents = Rows.toAudioLatents(end.audio(), golden.target.audioLatents(), 8);
            assertThat(GoldenTensors.relative(latents, golden.tensors.floats("outputs", "audio_latents"))).isLessThan(1e-5);
        }
    }

    @Test
    void generatedVelocitiesAloneGiveTheSameBits() {
        try (Case golden = new Case("fl2va_both", "FIRST LAST"); DenoisePlan all = golden.plan(true); DenoisePlan few = golden.plan(false)) {
            Clock clock = new Clock(ProgressListener.NONE, new Cancellation());
            assertThat(run(golden, few, clock).video()).isEqualTo(run(golden, all, clock).video());
        }
    }

    @Test
    void stepsAreToldAndCanBeCancelled() {
        try (Case golden = new Case("t2va", ""); DenoisePlan plan = golden.plan(false)) {
            Cancellation cancellation = new Cancellation();
            List<Integer> steps = new ArrayList<>();
            Clock clock = new Clock(event -> {
                if (event instanceof Progress.StepFinished step) {
                    steps.add(step.step());
                    assertThat(step.steps()).isEqualTo(4);
                    if (step.step() == 2) {
                        cancellation.cancel();
                    }
                }
            }, cancellation);
            assertThatExceptionOfType(CancelledException.class).isThrownBy(() -> run(golden, plan, clock));
            assertThat(steps).containsExactly(1, 2);
        }
    }

    @Test
    void aValueThatIsNoNumberNamesStepAndBlock() {
        try (Case golden = new Case("t2va", ""); DenoisePlan plan = golden.plan(false)) {
            float[] video = golden.tensors.floats("trajectory", "video_rows_0");
            video[5] = Float.NaN;
            assertThatExceptionOfType(NonFiniteException.class)
                    .isThrownBy(() -> plan.run(video, golden.tensors.floats("trajectory", "audio_rows_0"),
                            new Clock(ProgressListener.NONE, new Cancellation()), PipelineTap.NONE))
                    .withMessageContaining("step 1 of 4").withMessageContaining("block0");
        }
    }

    private static DenoisePlan.Denoised run(Case golden, DenoisePlan plan, Clock clock) {
        return plan.run(golden.tensors.floats("trajectory", "video_rows_0"), golden.tensors.floats("trajectory", "audio_rows_0"), clock, PipelineTap.NONE);
    }

    /** One golden pipeline and its transformer. */
    private final class Case implements AutoCloseable {
        private final GoldenTensors tensors;
        private final Checkpoint weights;
        private final Dit dit;
        private final PackedLayout layout;
        private final Target target;

        Case(String name, String anchors) {
            tensors = new GoldenTensors(Geometries.ROOT.resolve("testdata/goldens/pipeline").resolve(name));
            ModelFolder model = ModelFolder.open(Geometries.TINY);
            weights = Checkpoint.open(model.folder(Component.TRANSFORMER));
            dit = Dit.open(backend, weights, DitConfig.read(model.config(Component.TRANSFORMER)), Precision.FP32, Rounding.AS_STORED);
            long[] latents = tensors.shape("outputs", "latents");
            target = new Target((int) latents[2], (int) latents[3], (int) latents[4], (int) tensors.shape("outputs", "audio_latents")[2]);
            List<Anchor> keyframes = anchors.isEmpty() ? List.of() : java.util.Arrays.stream(anchors.split(" ")).map(Anchor::valueOf).toList();
            layout = PackedLayout.ofKeyframes(textTags(), target, new Patch(1, 2, 2), keyframes);
        }

        DenoisePlan plan(boolean allVelocities) {
            return DenoisePlan.of(backend, dit, layout, tensors.floats("inputs", "prompt_embeds"), SigmaGrid.ofPoints(5, 12),
                    SigmaGrid.ofPoints(5, 3), allVelocities, GraphReplay.ON);
        }

        private int[] textTags() {
            float[] tags = tensors.floats("inputs", "text_token_tags");
            int[] whole = new int[tags.length];
            for (int i = 0; i < whole.length; i++) {
                whole[i] = (int) tags[i];
            }
            return whole;
        }

        @Override
        public void close() {
            dit.close();
            weights.close();
        }
    }
}

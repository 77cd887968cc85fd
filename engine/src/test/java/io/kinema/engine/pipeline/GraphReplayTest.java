package io.kinema.engine.pipeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.kinema.compute.Backend;
import io.kinema.compute.MatrixLayout;
import io.kinema.compute.Precision;
import io.kinema.compute.collective.Communicator;
import io.kinema.compute.cpu.CpuBackend;
import io.kinema.engine.Cancellation;
import io.kinema.engine.Geometries;
import io.kinema.engine.GraphReplay;
import io.kinema.engine.ProgressListener;
import io.kinema.engine.layout.PackedLayout;
import io.kinema.engine.layout.Patch;
import io.kinema.engine.layout.Target;
import io.kinema.engine.model.Component;
import io.kinema.engine.model.ModelFolder;
import io.kinema.engine.record.StepRecord;
import io.kinema.engine.schedule.SigmaGrid;
import io.kinema.model.NonFiniteException;
import io.kinema.model.dit.Dit;
import io.kinema.model.dit.DitConfig;
import io.kinema.model.load.Parameters.Rounding;
import io.kinema.model.load.WeightPlacement;
import io.kinema.model.load.WeightResidency;
import io.kinema.weights.Checkpoint;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The loop on a backend that can record, against the same loop operation by operation. */
class GraphReplayTest {
    private static final int TEXT_ROWS = 11;
    private static final int STEPS = 4;

    private final Backend host = CpuBackend.open(1);
    private final RecordingBackend recording = new RecordingBackend(host);
    private final ModelFolder model = ModelFolder.open(Geometries.TINY);
    private final Checkpoint weights = Checkpoint.open(model.folder(Component.TRANSFORMER));
    private final DitConfig config = DitConfig.read(model.config(Component.TRANSFORMER));

    @AfterEach
    void close() {
        weights.close();
        host.close();
    }

    @ParameterizedTest
    @EnumSource(Precision.class)
    void replayedStepsGiveTheSameBitsAndCountTheSameWork(Precision precision) {
        DenoisePlan.Denoised eager = run(recording.backend(), precision, WeightResidency.COMPONENT, GraphReplay.OFF);
        assertThat(recording.recordings()).isZero();
        DenoisePlan.Denoised replayed = run(recording.backend(), precision, WeightResidency.COMPONENT, GraphReplay.ON);
        assertThat(replayed.video()).isEqualTo(eager.video());
        assertThat(replayed.audio()).isEqualTo(eager.audio());
        assertThat(recording.recordings()).isOne();
        assertThat(recording.replays()).isEqualTo(STEPS - 1);
        assertThat(replayed.steps().getFirst()).extracting(StepRecord::replayed).containsExactly(false, true, true, true);
        assertThat(replayed.steps().getFirst()).extracting(StepRecord::work).isEqualTo(eager.steps().getFirst().stream().map(StepRecord::work).toList());
        assertThat(replayed.steps().getFirst().getLast().usefulFlops()).isPositive();
    }

    @Test
    void stagedBlocksAndBackendsThatCannotRecordStayEager() {
        assertThat(run(recording.backend(), Precision.FP32, WeightResidency.LAYER, GraphReplay.ON).steps().getFirst()).extracting(StepRecord::replayed).containsOnly(false);
        assertThat(run(host, Precision.FP32, WeightResidency.COMPONENT, GraphReplay.ON).steps().getFirst()).extracting(StepRecord::replayed).containsOnly(false);
        assertThat(recording.recordings()).isZero();
    }

    /** Two outputs of one request: the second begins with a replay. */
    @Test
    void aSecondOutputReplaysFromItsFirstStep() {
        try (Dit dit = open(recording.backend(), Precision.FP32, WeightResidency.COMPONENT); DenoisePlan plan = plan(recording.backend(), dit, GraphReplay.ON)) {
            DenoisePlan.Denoised first = run(plan, 1);
            DenoisePlan.Denoised second = run(plan, 1);
            assertThat(second.steps().getFirst()).extracting(StepRecord::replayed).containsOnly(true);
            assertThat(second.video()).isEqualTo(first.video());
            assertThat(recording.recordings()).isOne();
        }
    }

    @Test
    void aValueThatIsNoNumberIsNamedByItsBlockInAReplayToo() {
        try (Dit dit = open(recording.backend(), Precision.FP32, WeightResidency.COMPONENT); DenoisePlan plan = plan(recording.backend(), dit, GraphReplay.ON)) {
            run(plan, 1);
            float[] video = rows(plan.rows().video(), config.videoPatchDim(), 2);
            video[5] = Float.NaN;
            assertThatExceptionOfType(NonFiniteException.class)
                    .isThrownBy(() -> plan.run(video, rows(plan.rows().audio(), config.audioChannels(), 3), clock(), PipelineTap.NONE))
                    .withMessageContaining("step 1 of 4").withMessageContaining("block0");
            assertThat(recording.replays()).isEqualTo(STEPS);
        }
    }

    private DenoisePlan.Denoised run(Backend backend, Precision precision, WeightResidency residency, GraphReplay replay) {
        try (Dit dit = open(backend, precision, residency); DenoisePlan plan = plan(backend, dit, replay)) {
            return run(plan, 1);
        }
    }

    private DenoisePlan.Denoised run(DenoisePlan plan, int seed) {
        return plan.run(rows(plan.rows().video(), config.videoPatchDim(), seed), rows(plan.rows().audio(), config.audioChannels(), seed + 1), clock(), PipelineTap.NONE);
    }

    private static Clock clock() {
        return new Clock(ProgressListener.NONE, new Cancellation());
    }

    private Dit open(Backend backend, Precision precision, WeightResidency residency) {
        return Dit.open(backend, weights, config, precision, Rounding.of(precision), MatrixLayout.ROW, WeightPlacement.of(residency), Communicator.ALONE);
    }

    private DenoisePlan plan(Backend backend, Dit dit, GraphReplay replay) {
        int[] tags = new int[TEXT_ROWS];
        Arrays.fill(tags, 1);
        PackedLayout layout = PackedLayout.ofKeyframes(tags, new Target(3, 4, 6, 5), new Patch(1, 2, 2), List.of());
        return DenoisePlan.of(backend, dit, layout, rows(TEXT_ROWS, config.textDim(), 9), SigmaGrid.ofPoints(STEPS + 1, 12), SigmaGrid.ofPoints(STEPS + 1, 3),
                false, replay);
    }

    private static float[] rows(int rows, int columns, int seed) {
        java.util.Random random = new java.util.Random(seed);
        float[] values = new float[rows * columns];
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) random.nextGaussian();
        }
        return values;
    }
}

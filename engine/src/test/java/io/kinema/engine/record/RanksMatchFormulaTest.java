package io.kinema.engine.record;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.compute.MatrixLayout;
import io.kinema.compute.Precision;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.compute.collective.Communicator;
import io.kinema.compute.collective.RankGroup;
import io.kinema.compute.cpu.CpuBackend;
import io.kinema.engine.Geometries;
import io.kinema.engine.RelativeL2;
import io.kinema.engine.model.Component;
import io.kinema.engine.model.ModelFolder;
import io.kinema.model.dit.Dit;
import io.kinema.model.dit.DitConfig;
import io.kinema.model.dit.DitLayout;
import io.kinema.model.dit.DitSequence;
import io.kinema.model.dit.Modulation;
import io.kinema.model.dit.Velocities;
import io.kinema.model.load.Parameters.Rounding;
import io.kinema.model.load.WeightPlacement;
import io.kinema.weights.Checkpoint;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What all ranks count together is what the formula says of one, and what they compute is what one does. */
class RanksMatchFormulaTest {
    private static final ModelFolder FOLDER = ModelFolder.open(Geometries.NANO);
    private static final DitConfig NANO = DitConfig.read(FOLDER.config(Component.TRANSFORMER));
    private static final UsefulWork WORK = UsefulWork.of(NANO);
    private static final double CLOSE = 1e-5;

    private record Outcome(float[] velocities, long usefulFlops) {
    }

    @ParameterizedTest
    @CsvSource({"1, 7, 13, 5", "2, 7, 13, 5", "4, 7, 13, 5", "2, 31, 37, 17", "4, 31, 37, 17"})
    void ranksTogether(int ranks, int text, int video, int audio) {
        float[] one = run(Communicator.ALONE, text, video, audio).velocities();
        List<Outcome> all;
        try (RankGroup group = RankGroup.open(ranks, Duration.ofMinutes(10))) {
            all = group.each(rank -> run(rank, text, video, audio));
        }
        UsefulWork.Rows rows = new UsefulWork.Rows(text, video, video, audio, audio);
        assertThat(all.stream().mapToLong(Outcome::usefulFlops).sum()).isEqualTo(WORK.preparation(rows, 1) + WORK.step(rows));
        assertThat(all).allSatisfy(outcome -> assertThat(Arrays.equals(outcome.velocities(), all.getFirst().velocities())).as("one result").isTrue());
        assertThat(RelativeL2.of(all.getFirst().velocities(), one)).isLessThanOrEqualTo(ranks == 1 ? 0 : CLOSE);
    }

    private static Outcome run(Communicator rank, int text, int video, int audio) {
        Path transformer = FOLDER.folder(Component.TRANSFORMER);
        int all = text + video + audio;
        DitLayout layout = DitLayout.of(new double[3 * all], new int[all], range(0, text), range(text, text + video), range(text + video, all));
        try (CpuBackend backend = CpuBackend.open(1); Checkpoint weights = Checkpoint.open(transformer);
                Dit dit = Dit.open(backend, weights, NANO, Precision.FP32, Rounding.AS_STORED, MatrixLayout.ROW, WeightPlacement.RESIDENT, rank);
                Workspace memory = backend.workspace("test");
                DitSequence sequence = dit.prepare(layout, values(text, NANO.textDim())); Modulation modulation = dit.modulation(new float[] {0.5f})) {
            Velocities out = Velocities.allocate(memory, NANO, layout);
            float[] timesteps = new float[all];
            Arrays.fill(timesteps, 0.5f);
            dit.forward(sequence, modulation, timesteps, values(video, NANO.videoPatchDim()), values(audio, NANO.audioChannels()), out);
            float[] a = out.video().toFloats();
            float[] b = out.audio().toFloats();
            float[] both = Arrays.copyOf(a, a.length + b.length);
            System.arraycopy(b, 0, both, a.length, b.length);
            return new Outcome(both, dit.work().usefulFlops());
        }
    }

    private static int[] range(int from, int to) {
        return IntStream.range(from, to).toArray();
    }

    private static Tensor values(int rows, int channels) {
        Random random = new Random(rows);
        float[] x = new float[rows * channels];
        for (int i = 0; i < x.length; i++) {
            x[i] = (float) random.nextGaussian();
        }
        return Tensor.ofFloats(x, rows, channels);
    }
}

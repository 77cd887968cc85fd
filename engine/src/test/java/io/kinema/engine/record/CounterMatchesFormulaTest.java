package io.kinema.engine.record;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.compute.Precision;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.compute.cpu.CpuBackend;
import io.kinema.engine.AdapterUse;
import io.kinema.engine.Clip;
import io.kinema.engine.EngineOptions;
import io.kinema.engine.GenerateRequest;
import io.kinema.engine.Geometries;
import io.kinema.engine.H3Engine;
import io.kinema.engine.NanoAdapter;
import io.kinema.engine.Reference;
import io.kinema.engine.RunRecordSchema;
import io.kinema.engine.Task;
import io.kinema.engine.model.Component;
import io.kinema.engine.model.ModelFolder;
import io.kinema.model.dit.Dit;
import io.kinema.model.dit.DitConfig;
import io.kinema.model.dit.DitLayout;
import io.kinema.model.dit.DitSequence;
import io.kinema.model.dit.Modulation;
import io.kinema.model.dit.Velocities;
import io.kinema.model.load.Parameters.Rounding;
import io.kinema.model.work.PartWork;
import io.kinema.model.work.Work;
import io.kinema.model.work.WorkPart;
import io.kinema.weights.Checkpoint;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What layers counted while they ran is what the closed formula says beforehand, to the last operation. */
class CounterMatchesFormulaTest {
    private static final DitConfig NANO = DitConfig.read(ModelFolder.open(Geometries.NANO).config(Component.TRANSFORMER));
    private static final UsefulWork WORK = UsefulWork.of(NANO);

    @TempDir
    private static Path folder;

    private static H3Engine engine;
    private static Clip first;

    @BeforeAll
    static void open() {
        engine = H3Engine.open(EngineOptions.builder().model(Geometries.NANO).threads(2).build());
        first = engine.generate(request().build());
        first.writeFrames(folder);
        first.saveLatents(folder.resolve("first.safetensors"));
    }

    @AfterAll
    static void close() {
        engine.close();
    }

    private static GenerateRequest.Builder request() {
        return GenerateRequest.prompt("A red circle bounces.").size(96, 64).frames(22).steps(3);
    }

    @Test
    void t2va() {
        check(first, Task.T2VA, 0);
    }

    @Test
    void fl2va() {
        check(engine.generate(request().image(folder.resolve("frame-00003.png")).lastImage(folder.resolve("frame-00009.png")).build()), Task.FL2VA, 1);
    }

    @Test
    void ref2va() {
        check(engine.generate(request().reference(Reference.parse("latents+sound:" + folder.resolve("first.safetensors"))).build()), Task.REF2VA, 2);
    }

    @Test
    void anAdapterOnEveryLayer() {
        Path file = NanoAdapter.write(folder.resolve("adapter.safetensors"), "", Map.of("alpha", "4"));
        Clip clip = engine.generate(request().adapter(AdapterUse.of(file)).flowShift(12).audioFlowShift(3).build());
        RunRecordSchema.requireValid(clip.record().toJson());
        UsefulWork.Rows rows = clip.record().rows();
        RankRecord rank = clip.record().ranks().getFirst();
        assertThat(clip.record().usefulFlops() - base(rows, rank.steps().size(), timesteps(clip.record(), 0))).isEqualTo(adapters(rank.work()));
        // The refiner's share is spent once, the blocks' in every step; one call of the formula has both once.
        long perStep = adapters(rank.steps().getFirst().work());
        assertThat(adapters(rank.preparation()) + perStep).isEqualTo(WORK.adapter(rows, 4, 1));
        assertThat(rank.work().redundantFlops()).as("queries, keys and values, gate and value have matrices of their own in this file, or share them")
                .isEqualTo(rank.steps().size() * redundant(rows.all(), NANO.layers()) + redundant(rows.text(), NANO.refinerLayers()));
    }

    /** The fused feed-forward's A is applied once for each of its two halves. */
    private static long redundant(long rows, long blocks) {
        return 2 * rows * 4 * NANO.hidden() * blocks;
    }

    @ParameterizedTest
    @CsvSource({"1, 1, 1, 0", "7, 13, 5, 0", "31, 37, 17, 3", "97, 128, 6, 11"})
    void oddRowsAndPadding(int text, int video, int audio, int padding) {
        Path transformer = ModelFolder.open(Geometries.NANO).folder(Component.TRANSFORMER);
        try (CpuBackend backend = CpuBackend.open(1); Checkpoint weights = Checkpoint.open(transformer);
                Dit dit = Dit.open(backend, weights, NANO, Precision.FP32, Rounding.AS_STORED); Workspace memory = backend.workspace("test")) {
            int all = text + video + audio;
            DitLayout layout = DitLayout.of(new double[3 * (all + padding)], new int[all + padding], range(0, text), range(text, text + video),
                    range(text + video, all)).returning(range(0, video - video / 2), range(0, audio));
            UsefulWork.Rows rows = new UsefulWork.Rows(text, video, video - video / 2, audio, audio);
            float[] timesteps = new float[all + padding];
            Velocities out = Velocities.allocate(memory, NANO, layout);
            try (DitSequence sequence = dit.prepare(layout, zeros(text, NANO.textDim())); Modulation modulation = dit.modulation(new float[] {0})) {
                assertThat(dit.work().usefulFlops()).isEqualTo(WORK.preparation(rows, 1));
                Work before = dit.work();
                dit.forward(sequence, modulation, timesteps, zeros(video, NANO.videoPatchDim()), zeros(audio, NANO.audioChannels()), out);
                assertThat(dit.work().minus(before).usefulFlops()).isEqualTo(WORK.step(rows));
            }
        }
    }

    /** @param clean times of conditions: nearly clean for pictures, clean for sounds */
    private static void check(Clip clip, Task task, int clean) {
        RunRecord record = clip.record();
        RunRecordSchema.requireValid(record.toJson());
        int timesteps = timesteps(record, clean);
        assertThat(record.request().task()).isEqualTo(task);
        UsefulWork.Rows rows = record.rows();
        RankRecord rank = record.ranks().getFirst();
        assertThat(rank.steps()).hasSize(3).allSatisfy(step -> {
            assertThat(step.usefulFlops()).isEqualTo(WORK.step(rows));
            assertThat(step.work().executedBlocks()).isEqualTo(NANO.layers());
        });
        assertThat(rank.preparation().usefulFlops()).isEqualTo(WORK.preparation(rows, timesteps));
        assertThat(rank.preparation().part(WorkPart.TEXT).flops()).as("text projection and refiner").isEqualTo(WORK.preparation(rows, 0));
        assertThat(record.usefulFlops()).isEqualTo(base(rows, 3, timesteps));
        assertThat(rank.work().redundantFlops()).isZero();
        assertThat(rank.work().parts().values().stream().mapToLong(PartWork::adapters).sum()).isZero();
    }

    /** Distinct noise levels of both schedules before their ends; the two may meet. */
    private static int timesteps(RunRecord record, int clean) {
        Stream<Float> both = Stream.of(record.schedule().sigmas(), record.schedule().audioSigmas()).flatMap(levels -> levels.stream().limit(levels.size() - 1L));
        return (int) both.distinct().count() + clean;
    }

    private static long base(UsefulWork.Rows rows, int steps, int timesteps) {
        return steps * WORK.step(rows) + WORK.preparation(rows, timesteps);
    }

    private static long adapters(Work work) {
        return work.parts().values().stream().mapToLong(PartWork::adapters).sum();
    }

    private static int[] range(int from, int to) {
        return IntStream.range(from, to).toArray();
    }

    private static Tensor zeros(int rows, int channels) {
        return Tensor.ofFloats(new float[rows * channels], rows, channels);
    }
}

package io.kinema.model.dit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kinema.compute.Backend;
import io.kinema.compute.MatrixLayout;
import io.kinema.compute.Precision;
import io.kinema.compute.Workspace;
import io.kinema.compute.collective.BackendGroup;
import io.kinema.compute.collective.Communicator;
import io.kinema.compute.collective.RankGroup;
import io.kinema.compute.cpu.CpuBackend;
import io.kinema.model.GoldenCase;
import io.kinema.model.StageTap;
import io.kinema.model.adapter.AdapterFile;
import io.kinema.model.adapter.AdapterFixture;
import io.kinema.model.load.Parameters.Rounding;
import io.kinema.model.load.WeightPlacement;
import io.kinema.model.load.WeightResidency;
import io.kinema.model.work.Work;
import io.kinema.weights.Checkpoint;
import io.kinema.weights.MemoryTensors;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** One transformer on several ranks: the same weights, each rank with its share of heads and channels. */
class DitRanksTest {
    private static final Duration TIMEOUT = Duration.ofMinutes(10);

    private GoldenCase golden;
    private DitInputs inputs;
    private DitConfig config;
    private Checkpoint source;

    private record Outcome(float[] velocities, Work work) {
    }

    @BeforeEach
    void open() {
        golden = GoldenCase.open(GoldenCase.bundled(), "transformer/ref2va");
        inputs = DitGoldenTest.inputs(golden, golden.check("fp32").orElseThrow());
        config = DitConfig.read(GoldenCase.json(golden.weights().resolve("config.json")));
        source = Checkpoint.open(golden.weights());
    }

    @AfterEach
    void close() {
        source.close();
        golden.close();
    }

    private Outcome run(Communicator rank, Precision precision) {
        try (Backend backend = CpuBackend.open(1); Dit dit = Dit.open(backend, source, config, precision, Rounding.of(precision), MatrixLayout.ROW,
                WeightPlacement.RESIDENT, rank); DitSequence sequence = dit.prepare(inputs.layout(), inputs.text());
             Modulation modulation = dit.modulation(inputs.timesteps()); Workspace memory = backend.workspace("test")) {
            Velocities out = Velocities.allocate(memory, config, sequence.layout());
            dit.forward(sequence, modulation, inputs.rowTimesteps(), inputs.video(), inputs.audio(), out, StageTap.NONE);
            return new Outcome(joined(out), dit.work());
        }
    }

    private List<Outcome> on(int ranks, Precision precision) {
        try (RankGroup group = RankGroup.open(ranks, TIMEOUT)) {
            return group.each(rank -> run(rank, precision));
        }
    }

    /** FP32 differs by the order of sums alone. The 16-bit plans round each rank's share of the attention and feed-forward rows as they would the whole. */
    @ParameterizedTest
    @CsvSource({"2, FP32, 1e-5", "2, FP16_FP32RES, 2e-3", "2, BF16_FP32RES, 1e-2"})
    void ranksMakeWhatOneDoes(int ranks, Precision precision, double limit) {
        Outcome one = run(Communicator.ALONE, precision);
        List<Outcome> several = on(ranks, precision);
        assertThat(several).allSatisfy(outcome -> assertThat(Arrays.equals(outcome.velocities(), several.getFirst().velocities())).as("the same bits on all ranks").isTrue());
        assertThat(relativeL2(several.getFirst().velocities(), one.velocities())).isLessThanOrEqualTo(limit);
        assertThat(Arrays.equals(on(ranks, precision).getFirst().velocities(), several.getFirst().velocities())).as("the same bits again").isTrue();
    }

    /** Weights of every kind with no adapter, one and two on every layer, by the wrapper that the engine uses: on two and four ranks, in every plan. */
    @ParameterizedTest
    @CsvSource({"2, ORIGINAL", "4, ORIGINAL", "2, INT8", "4, ROTATED_INT8", "2, ROTATED_INT8", "4, WIDE"})
    void adaptersAndCodedWeightsGoWithTheirShares(int ranks, RankedSample.Weights kind, @TempDir Path folder) {
        DitInputs plain = RankedSample.plain(5, 20, 9);
        try (MemoryTensors weights = kind.make()) {
            for (Precision precision : Precision.values()) {
                double limit = precision == Precision.FP32 ? 1e-5 : precision == Precision.FP16_FP32RES ? 5e-3 : 3e-2;
                for (int adapters = 0; adapters <= 2; adapters++) {
                    List<AdapterFile> files = IntStream.range(0, adapters).mapToObj(i -> adapter(folder, i)).toList();
                    try (Backend backend = CpuBackend.open(1); Dit one = Dit.open(backend, weights, RankedSample.CONFIG, precision, Rounding.of(precision));
                         BackendGroup group = BackendGroup.of(backends(ranks), TIMEOUT); RankedDit several = RankedDit.open(group, weights, RankedSample.CONFIG,
                            precision, Rounding.of(precision), MatrixLayout.COLUMN, WeightPlacement.of(WeightResidency.LAYER), Optional.empty())) {
                        float[] expected = velocities(one, backend, files, plain);
                        float[] got = velocities(several, group.backends().getFirst(), files, plain);
                        assertThat(relativeL2(got, expected)).as("%s with %s adapters", precision, adapters).isLessThanOrEqualTo(limit);
                        assertThat(several.meters().stream().mapToLong(meter -> meter.work().usefulFlops()).sum())
                                .isGreaterThanOrEqualTo(one.work().usefulFlops());
                    } finally {
                        files.forEach(AdapterFile::close);
                    }
                }
            }
        }
    }

    private static List<Backend> backends(int n) {
        return IntStream.range(0, n).<Backend>mapToObj(_ -> CpuBackend.open(1)).toList();
    }

    private static AdapterFile adapter(Path folder, int index) {
        AdapterFixture fixture = new AdapterFixture(RankedSample.CONFIG, 3 + index, index, true);
        // The second one has stacked layers whose factors share rows and columns.
        Path file = AdapterFixture.write(folder.resolve("adapter-" + index + ".safetensors"), index == 0 ? fixture.diffusers("", ".lora_A.weight", ".lora_B.weight", true)
                : fixture.original("", ".lora_down.weight", ".lora_up.weight", true, AdapterFixture.Fused.BLOCK_DIAGONAL), Map.of());
        return AdapterFile.open(file, DitTensors.forAdapters(RankedSample.CONFIG), Optional.empty());
    }

    private static float[] velocities(Transformer dit, Backend backend, List<AdapterFile> files, DitInputs in) {
        List<LoadedAdapter> loaded = files.stream().map(file -> dit.load(file.adapter())).toList();
        dit.use(loaded.stream().map(one -> new ScaledAdapter(one, 0.5)).toList());
        try (Workspace memory = backend.workspace("test"); DitSequence sequence = dit.prepare(in.layout(), in.text());
             Modulation modulation = dit.modulation(in.timesteps())) {
            Velocities out = Velocities.allocate(memory, dit.config(), in.layout());
            dit.forward(sequence, modulation, in.rowTimesteps(), in.video(), in.audio(), out);
            return joined(out);
        } finally {
            dit.use(List.of());
            loaded.forEach(LoadedAdapter::close);
        }
    }

    private static float[] joined(Velocities out) {
        float[] video = out.video().toFloats();
        float[] audio = out.audio().toFloats();
        float[] both = Arrays.copyOf(video, video.length + audio.length);
        System.arraycopy(audio, 0, both, video.length, audio.length);
        return both;
    }

    /** The ranks' useful work adds up to that of one; what all of them do counts once. */
    @Test
    void workIsSharedOut() {
        Work one = run(Communicator.ALONE, Precision.FP32).work();
        List<Outcome> several = on(2, Precision.FP32);
        assertThat(several.stream().mapToLong(outcome -> outcome.work().usefulFlops()).sum()).isEqualTo(one.usefulFlops());
        assertThat(several.get(1).work().usefulFlops()).isBetween(one.usefulFlops() / 4, one.usefulFlops() / 2);
    }

    @Test
    void headsThatCannotBeSharedOutAreRefused() {
        assertThatThrownBy(() -> on(3, Precision.FP32)).isInstanceOf(IllegalArgumentException.class).hasMessageContaining("heads").hasMessageContaining("for 3 ranks");
    }

    private static double relativeL2(float[] got, float[] expected) {
        double difference = 0;
        double norm = 0;
        for (int i = 0; i < got.length; i++) {
            difference += Math.pow((double) got[i] - expected[i], 2);
            norm += Math.pow(expected[i], 2);
        }
        return Math.sqrt(difference / norm);
    }
}

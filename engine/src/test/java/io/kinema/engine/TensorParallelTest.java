package io.kinema.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.kinema.engine.convert.QuantizeOptions;
import io.kinema.engine.convert.Quantizer;
import io.kinema.engine.forecast.Rates;
import io.kinema.engine.record.RankRecord;
import io.kinema.engine.record.RunRecord;
import io.kinema.weights.BadWeightsException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests on several ranks: what comes out, what is recorded, what is refused. */
class TensorParallelTest {
    private static final GenerateRequest REQUEST = GenerateRequest.prompt("A green square grows on a white background, with a buzz.")
            .size(64, 64).frames(22).steps(2).seed(3).build();
    /** What ranks are held to in FP32: their sums are in another order, nothing else differs. */
    private static final double CLOSE = 1e-5;

    private static Clip one;

    @BeforeAll
    static void withOneRank() {
        one = generate(1, 2);
    }

    private static EngineOptions.Builder options(int ranks) {
        return EngineOptions.builder().model(Geometries.NANO).ranks(RankOptions.DEFAULTS.withTensorParallel(ranks));
    }

    private static Clip generate(int ranks, int threads) {
        try (H3Engine engine = H3Engine.open(options(ranks).threads(threads).build())) {
            return engine.generate(REQUEST);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 4})
    void ranksMakeWhatOneDoes(int ranks) {
        Clip clip = generate(ranks, 4);
        assertThat(RelativeL2.of(clip.latents().video(), one.latents().video())).isBetween(Double.MIN_VALUE, CLOSE);
        assertThat(RelativeL2.of(clip.latents().audio(), one.latents().audio())).isBetween(Double.MIN_VALUE, CLOSE);
        requireRecorded(ranks, clip.record());
        Clip again = generate(ranks, 9);
        assertThat(again.latents().video()).as("the same bits again, with other threads").isEqualTo(clip.latents().video());
        assertThat(again.left()).isEqualTo(clip.left());
        assertThat(again.frame(21)).isEqualTo(clip.frame(21));
    }

    private static void requireRecorded(int ranks, RunRecord record) {
        RunRecordSchema.requireValid(record.toJson());
        assertThat(record.execution().ranks().tensorParallel()).isEqualTo(ranks);
        assertThat(record.execution().threads()).isEqualTo(4);
        assertThat(record.ranks()).extracting(RankRecord::rank).isEqualTo(List.of(0, 1, 2, 3).subList(0, ranks));
        assertThat(record.usefulFlops()).as("all ranks together do the work of one").isEqualTo(one.record().usefulFlops());
        assertThat(record.ranks()).allSatisfy(rank -> {
            assertThat(rank.usefulFlops()).isBetween(record.usefulFlops() / ranks / 2, 2 * record.usefulFlops() / ranks);
            assertThat(rank.steps()).hasSize(2).allSatisfy(step -> assertThat(step.deviceSeconds()).isPositive());
            // Two reductions in each of eight blocks and two steps, and in the refiner's one.
            assertThat(rank.traffic().calls()).isEqualTo(2 * (2 * 8 + 1));
            assertThat(rank.traffic().bytes()).isEqualTo(2L * 192 * Float.BYTES * (2 * 8 * record.rows().all() + record.rows().text()));
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 4})
    void plansKnowTheRanks(int ranks) {
        var plan = H3Planner.plan(options(ranks).threads(4).build(), REQUEST, Rates.NONE);
        assertThat(plan.usefulFlops()).isEqualTo(one.record().usefulFlops());
        assertThat(plan.execution().ranks().tensorParallel()).isEqualTo(ranks);
        assertThat(plan.toJson().at("/execution/tensor_parallel").asInt()).isEqualTo(ranks);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 3, 8, -2})
    void otherNumbersAreRefused(int ranks) {
        assertThatExceptionOfType(BadRequestException.class).isThrownBy(() -> options(ranks)).withMessageContaining("tensorParallel: got " + ranks + ", expected 1, 2 or 4");
    }

    /** The golden cases' transformer has two heads. */
    @Test
    void headsThatCannotBeSharedOutAreRefusedBeforeAnythingIsRead(@TempDir Path temp) throws IOException {
        EngineOptions options = options(4).model(TinyModel.in(temp.resolve("tiny"))).build();
        String refusal = "tensorParallel: got 4, expected a divisor of this transformer's 2 heads and";
        assertThatExceptionOfType(BadRequestException.class).isThrownBy(() -> H3Planner.plan(options, REQUEST, Rates.NONE)).withMessageContaining(refusal);
        try (H3Engine engine = H3Engine.open(options)) {
            assertThatExceptionOfType(BadRequestException.class).isThrownBy(() -> engine.check(REQUEST)).withMessageContaining(refusal)
                    .withMessageContaining("use --tensor-parallel 2");
        }
    }

    /** A rank's columns of rotated integers begin and end with a group: the published width cuts h3-nano's 256 columns, a smaller one does not. */
    @Test
    void rotatedGroupsAreNotCut(@TempDir Path temp) {
        Path wide = quantized(temp.resolve("wide.safetensors"), 256);
        EngineOptions cut = options(2).transformer(wide).build();
        assertThatExceptionOfType(BadWeightsException.class).as("a plan refuses it too").isThrownBy(() -> H3Planner.plan(cut, REQUEST, Rates.NONE))
                .withMessageContaining("has 256 columns rotated in groups of 256");
        try (H3Engine engine = H3Engine.open(cut)) {
            assertThatExceptionOfType(BadWeightsException.class).isThrownBy(() -> engine.check(REQUEST))
                    .withMessageContaining("has 256 columns rotated in groups of 256").withMessageContaining("the 128 of each of 2 ranks")
                    .withMessageEndingWith("kinema quantize MODEL --output FILE.safetensors --group-size 64");
        }
        Path narrow = quantized(temp.resolve("narrow.safetensors"), 64);
        float[][] video = new float[2][];
        for (int i = 0; i < 2; i++) {
            try (H3Engine engine = H3Engine.open(options(i == 0 ? 1 : 4).transformer(narrow).build())) {
                video[i] = engine.generate(REQUEST).latents().video();
            }
        }
        assertThat(RelativeL2.of(video[1], video[0])).isLessThanOrEqualTo(CLOSE);
    }

    private static Path quantized(Path file, int group) {
        Quantizer.quantize(Geometries.NANO, file, new QuantizeOptions(group, false, Optional.empty(), Optional.empty(), Optional.empty(), 2), _ -> { });
        return file;
    }

    @Test
    void everyRankWantsADevice() {
        for (String device : new String[] {"cuda:0", "cuda:0,1,2"}) {
            assertThatExceptionOfType(BadRequestException.class).isThrownBy(() -> H3Engine.open(options(2).device(device).build()))
                    .withMessageContaining("device: got " + device).withMessageContaining("one for each of 2 ranks");
        }
        assertThatExceptionOfType(BadRequestException.class).isThrownBy(() -> H3Engine.open(options(1).device("cuda:0,1").build()))
                .withMessageContaining("add --tensor-parallel 2");
    }
}

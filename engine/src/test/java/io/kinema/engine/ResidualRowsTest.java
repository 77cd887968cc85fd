package io.kinema.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.kinema.compute.Fallback;
import io.kinema.compute.Precision;
import io.kinema.compute.collective.RowReduction.Mode;
import io.kinema.compute.collective.RowReduction.Report;
import io.kinema.engine.convert.QuantizeOptions;
import io.kinema.engine.convert.Quantizer;
import io.kinema.engine.forecast.Rates;
import io.kinema.engine.forecast.ResidualForecast;
import io.kinema.engine.forecast.RunPlan;
import io.kinema.engine.record.RankRecord;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Whole clips whose residual rows live on one rank each: the files of ranks that all have all rows, byte for byte, and what is recorded. */
class ResidualRowsTest {
    private static final GenerateRequest REQUEST = GenerateRequest.prompt("A green square grows on a white background, with a buzz.")
            .size(64, 64).frames(22).steps(2).seed(3).build();
    /** Two reductions in each of eight blocks and two steps. */
    private static final long REDUCTIONS = 2 * 8 * 2;

    @TempDir
    private static Path folder;
    private static Clip ordinary;

    @BeforeAll
    static void withAllRowsOnEveryRank() {
        ordinary = generate(4, Precision.FP32, ResidualOptions.DEFAULTS);
    }

    private static EngineOptions options(int ranks, Precision precision, ResidualOptions rows) {
        return EngineOptions.builder().model(Geometries.NANO).threads(4).precision(precision)
                .ranks(RankOptions.DEFAULTS.withTensorParallel(ranks).withResidual(rows)).build();
    }

    private static Clip generate(int ranks, Precision precision, ResidualOptions rows) {
        try (H3Engine engine = H3Engine.open(options(ranks, precision, rows))) {
            return engine.generate(REQUEST);
        }
    }

    private static ResidualOptions peers(OptionalLong memory) {
        return new ResidualOptions(true, Mode.PEER, memory);
    }

    private static void requireSameFiles(Clip clip, Clip expected) throws IOException {
        assertThat(clip.latents().video()).isEqualTo(expected.latents().video());
        assertThat(clip.latents().audio()).isEqualTo(expected.latents().audio());
        assertThat(bytes(clip, "clip")).as("MP4 files").isEqualTo(bytes(expected, "expected"));
    }

    private static byte[] bytes(Clip clip, String name) throws IOException {
        Path file = folder.resolve(name + ".mp4");
        clip.writeMp4(file);
        return Files.readAllBytes(file);
    }

    private static List<Report> reports(Clip clip) {
        RunRecordSchema.requireValid(clip.record().toJson());
        return clip.record().ranks().stream().map(RankRecord::rowReductions).map(Optional::orElseThrow).toList();
    }

    @Test
    void peersMakeTheSameFiles() throws IOException {
        Clip clip = generate(4, Precision.FP32, peers(OptionalLong.empty()));
        requireSameFiles(clip, ordinary);
        assertThat(reports(clip)).hasSize(4).allSatisfy(report -> {
            assertThat(report.peerCalls()).isEqualTo(REDUCTIONS);
            assertThat(report.nativeCalls()).isZero();
            assertThat(report.setupSeconds()).isPositive();
            assertThat(report.bufferBytes()).isPositive();
            assertThat(report.fallback()).isEmpty();
        });
        assertThat(clip.record().ranks()).allSatisfy(rank -> assertThat(rank.peakCommunicationBytes()).isEqualTo(rank.rowReductions().orElseThrow().bufferBytes()));
        var execution = clip.record().toJson().path("execution");
        assertThat(execution.path("residual_sequence_parallel").asBoolean()).isTrue();
        assertThat(execution.path("residual_reduction").asText()).isEqualTo("peer");
        assertThat(execution.path("residual_reduction_memory_bytes").asLong()).isEqualTo(4L << 30);
        assertThat(ordinary.record().ranks()).allSatisfy(rank -> assertThat(rank.rowReductions()).isEmpty());
        assertThat(ordinary.record().toJson().path("execution").has("residual_sequence_parallel")).isFalse();
    }

    /** What a plan says of scratch memory counts BF16 as FP16, which keeps one more copy. */
    @ParameterizedTest
    @EnumSource(value = Precision.class, names = {"FP16_FP32RES", "BF16_FP32RES"})
    void soDoTheOtherPlans(Precision precision) throws IOException {
        Clip clip = generate(4, precision, peers(OptionalLong.empty()));
        requireSameFiles(clip, generate(4, precision, ResidualOptions.DEFAULTS));
        assertThat(H3Planner.plan(options(4, precision, peers(OptionalLong.empty())), REQUEST, Rates.NONE).scratch().get("transformer"))
                .isCloseTo(clip.record().memory().scratchBytes().get("transformer"), withinPercentage(precision == Precision.FP16_FP32RES ? 2 : 15));
    }

    /** Rotated INT8, with a reference: another transformer layout, a longer sequence. */
    @Test
    void soDoRotatedIntegersWithAReference() throws IOException {
        Path integers = folder.resolve("int8.safetensors");
        Quantizer.quantize(Geometries.NANO, integers, new QuantizeOptions(64, false, Optional.empty(), Optional.empty(), Optional.empty(), 2), _ -> { });
        ordinary.writeFrames(folder);
        GenerateRequest request = GenerateRequest.prompt("A square like this one").size(64, 64).frames(22).steps(1).seed(4)
                .reference(new Reference.Image(folder.resolve("frame-00003.png"))).build();
        List<Clip> clips = new ArrayList<>();
        for (ResidualOptions rows : List.of(ResidualOptions.DEFAULTS, peers(OptionalLong.empty()))) {
            EngineOptions options = EngineOptions.builder().model(Geometries.NANO).transformer(integers).threads(4).precision(Precision.FP16_FP32RES)
                    .ranks(RankOptions.DEFAULTS.withTensorParallel(2).withResidual(rows)).build();
            try (H3Engine engine = H3Engine.open(options)) {
                clips.add(engine.generate(request));
            }
        }
        requireSameFiles(clips.get(1), clips.get(0));
        assertThat(clips.get(1).record().model().transformerEncodings().getFirst()).startsWith("INT8 rotated");
    }

    @Test
    void theAllReduceIsUsedWherePeersCannotBeAndTheRecordSaysWhy() throws IOException {
        Clip overBudget = generate(4, Precision.FP32, peers(OptionalLong.of(1 << 16)));
        requireSameFiles(overBudget, ordinary);
        assertThat(reports(overBudget)).allSatisfy(report -> requireNative(report, REDUCTIONS, "shape exceeds residual communication budget: "));
        assertThat(overBudget.record().fallbacks()).singleElement().satisfies(fallback -> {
            assertThat(fallback.what()).isEqualTo("residual reduction");
            assertThat(fallback.wanted()).isEqualTo("peer");
            assertThat(fallback.used()).isEqualTo("native");
            assertThat(fallback.reason()).startsWith("shape exceeds residual communication budget: ");
        });
        Clip asked = generate(4, Precision.FP32, new ResidualOptions(true, Mode.NATIVE, OptionalLong.empty()));
        requireSameFiles(asked, ordinary);
        assertThat(asked.record().fallbacks()).isEmpty();
        assertThat(reports(asked)).allSatisfy(report -> assertThat(report).isEqualTo(new Report(0, REDUCTIONS, 0, 0, Optional.empty())));
        Clip two = generate(2, Precision.FP32, peers(OptionalLong.empty()));
        requireSameFiles(two, generate(2, Precision.FP32, ResidualOptions.DEFAULTS));
        assertThat(reports(two)).hasSize(2).allSatisfy(report -> requireNative(report, REDUCTIONS, "peer execution requires 4 ranks, there are 2"));
        Clip one = generate(1, Precision.FP32, peers(OptionalLong.empty()));
        requireSameFiles(one, generate(1, Precision.FP32, ResidualOptions.DEFAULTS));
        assertThat(one.record().fallbacks()).extracting(Fallback::used).containsExactly("none");
        assertThat(reports(one)).hasSize(1).allSatisfy(report -> requireNative(report, 0, "one rank has all residual rows"));
    }

    private static void requireNative(Report report, long calls, String because) {
        assertThat(report.peerCalls()).isZero();
        assertThat(report.nativeCalls()).isEqualTo(calls);
        assertThat(report.bufferBytes()).isZero();
        assertThat(report.fallback().orElseThrow()).startsWith(because);
    }

    /** Two clips of one engine: the plan stays while the shape does, and each record counts its own clip. */
    @Test
    void aSecondClipFindsThePlanReady() {
        try (H3Engine engine = H3Engine.open(options(4, Precision.FP32, peers(OptionalLong.empty())))) {
            engine.generate(REQUEST);
            assertThat(reports(engine.generate(REQUEST))).allSatisfy(report -> {
                assertThat(report.peerCalls()).isEqualTo(REDUCTIONS);
                assertThat(report.setupSeconds()).isZero();
            });
        }
    }

    /** What a plan foresees is what a run then does: reduction, buffers and reason. */
    @ParameterizedTest
    @CsvSource({"4, PEER, 0", "4, PEER, 65536", "4, NATIVE, 0", "2, PEER, 0", "1, PEER, 0"})
    void plansForeseeIt(int ranks, Mode mode, long memory) {
        ResidualOptions rows = new ResidualOptions(true, mode, memory == 0 ? OptionalLong.empty() : OptionalLong.of(memory));
        RunPlan plan = H3Planner.plan(options(ranks, Precision.FP32, rows), REQUEST, Rates.NONE);
        ResidualForecast foreseen = plan.residual().orElseThrow();
        Clip clip = generate(ranks, Precision.FP32, rows);
        Report report = reports(clip).getFirst();
        assertThat(plan.scratch().get("transformer")).isCloseTo(clip.record().memory().scratchBytes().get("transformer"), withinPercentage(2));
        assertThat(foreseen.nativeBecause()).isEqualTo(report.fallback());
        assertThat(foreseen.bufferBytes()).isEqualTo(report.bufferBytes());
        assertThat(foreseen.reduction() == Mode.PEER).isEqualTo(report.peerCalls() > 0);
        var json = plan.toJson();
        assertThat(json.at("/execution/residual_reduction").asText()).isEqualTo(mode.label());
        assertThat(json.at("/residual_rows/reduction").asText()).isEqualTo(foreseen.reduction().label());
        assertThat(json.at("/residual_rows/of_each_rank").asInt()).isEqualTo(foreseen.shares().each());
    }

    @Test
    void whatDoesNotGoTogetherIsRefused() {
        assertThatExceptionOfType(BadRequestException.class).isThrownBy(() -> new ResidualOptions(false, Mode.PEER, OptionalLong.empty()))
                .withMessageContaining("residualReduction: got peer").withMessageContaining("add --residual-sequence-parallel");
        assertThatExceptionOfType(BadRequestException.class).isThrownBy(() -> new ResidualOptions(true, Mode.NATIVE, OptionalLong.of(1L << 31)))
                .withMessageContaining("residualReductionMemoryGib: got 2.0").withMessageContaining("add --residual-reduction peer");
        for (double gib : new double[] {0, -1, Double.NaN, Double.POSITIVE_INFINITY}) {
            assertThatExceptionOfType(BadRequestException.class).isThrownBy(() -> ResidualOptions.bytes(gib)).withMessageContaining("expected more than 0");
        }
    }
}

package io.kinema.engine.forecast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.compute.Backend;
import io.kinema.compute.MatrixLayout;
import io.kinema.compute.Precision;
import io.kinema.compute.cpu.CpuBackend;
import io.kinema.engine.AdapterUse;
import io.kinema.engine.Clip;
import io.kinema.engine.EngineOptions;
import io.kinema.engine.GenerateRequest;
import io.kinema.engine.Geometries;
import io.kinema.engine.H3Engine;
import io.kinema.engine.H3Planner;
import io.kinema.engine.NanoAdapter;
import io.kinema.engine.RankOptions;
import io.kinema.engine.Reference;
import io.kinema.engine.Stage;
import io.kinema.engine.convert.QuantizeOptions;
import io.kinema.engine.convert.Quantizer;
import io.kinema.media.audio.Sound;
import io.kinema.media.audio.WavWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A plan says before a run what its record says after it. */
class PlanMatchesRunTest {
    /** Of the forecast's host memory, the part of the Java process itself. */
    private static final long PROCESS = 180L << 20;
    private static final Percentage SCRATCH_MARGIN = Percentage.withPercentage(15);
    private static final EngineOptions OPTIONS = EngineOptions.builder().model(Geometries.NANO).threads(2).build();

    @TempDir
    private static Path folder;

    private static Clip first;

    @BeforeAll
    static void makeReferences() {
        first = compare(request().outputs(1));
        first.writeMp4(folder.resolve("clip.mp4"));
        first.writeFrames(folder);
        first.saveLatents(folder.resolve("clip.safetensors"));
        WavWriter.write(new Sound(22_050, new float[][] {new float[30_000]}), folder.resolve("mono.wav"));
    }

    private static GenerateRequest.Builder request() {
        return GenerateRequest.prompt("A red circle bounces.").frames(20).steps(2);
    }

    private static Reference reference(String kind, String file) {
        return Reference.parse(kind + ":" + folder.resolve(file));
    }

    @Test
    void keyframes() {
        compare(request().image(folder.resolve("frame-00003.png")).lastImage(folder.resolve("frame-00009.png")));
    }

    @Test
    void references() {
        compare(request().reference(reference("video+sound", "clip.mp4")).reference(reference("image", "frame-00000.png"))
                .reference(reference("audio", "mono.wav")).reference(reference("video", "clip.mp4")));
    }

    /** Of so small a vision tower nothing is wider than its rounded pixels. */
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "FP32")
    void keyframesInSixteenBits(Precision precision) {
        compare(EngineOptions.builder().model(Geometries.NANO).threads(2).precision(precision).build(),
                request().outputs(1).image(folder.resolve("frame-00003.png")));
    }

    @Test
    void latentsOfAnEarlierClip() {
        compare(request().frames(39).reference(reference("latents+sound", "clip.safetensors")).reference(reference("latents", "clip.safetensors")));
    }

    @Test
    void aLargerCanvasInTiles() {
        compare(request().size(448, 256));
    }

    /** Text encoder on two ranks and, having two heads, on one of four; tiles on all of them. */
    @Test
    void severalRanks() {
        Path picture = folder.resolve("frame-00003.png");
        for (int ranks : new int[] {2, 4}) {
            EngineOptions options = EngineOptions.builder().model(Geometries.NANO).threads(ranks).ranks(RankOptions.DEFAULTS.withTensorParallel(ranks)).build();
            Clip clip = compare(options, ranks == 2 ? request().size(448, 256) : request().image(picture));
            assertThat(clip.record().execution().choices()).containsEntry("text_encoder_ranks", ranks == 2 ? "2" : "1");
            assertThat(clip.record().usefulFlops()).isPositive();
        }
    }

    /** Rotated copies of rows are counted as scratch and not as useful work, and integers get no FP16 copies. */
    @Test
    void rotatedIntegersInThePlanOfSm70() {
        Path file = folder.resolve("h3_nano_fl2va_int8_convrot.safetensors");
        Quantizer.quantize(Geometries.NANO, file, new QuantizeOptions(256, false, Optional.empty(), Optional.empty(), Optional.empty(), 2), _ -> { });
        EngineOptions options = EngineOptions.builder().model(Geometries.NANO).threads(2).transformer(file).precision(Precision.FP16_FP32RES).build();
        Clip clip = compare(options, request().outputs(1));
        assertThat(clip.record().usefulFlops()).as("rotation and decoding are no useful work").isEqualTo(first.record().usefulFlops());
        assertThat(clip.record().model().transformerEncodings()).containsExactly("INT8 rotated by 64", "BF16", "INT8 rotated by 256", "F32");
        long floats = H3Planner.plan(OPTIONS, request().build(), Rates.NONE).memory().getLast().weights();
        assertThat(H3Planner.plan(options, request().build(), Rates.NONE).memory().getLast().weights()).isLessThan(floats + 2 * (16L << 20));
    }

    @Test
    void columnsInThePlanOfSm70() {
        Clip clip = compare(EngineOptions.builder().model(Geometries.NANO).threads(2).precision(Precision.FP16_FP32RES).fp16WeightLayout(MatrixLayout.COLUMN).build(),
                request().outputs(1));
        assertThat(clip.record().toJson().path("execution").path("fp16_weight_layout").asText()).isEqualTo("column");
        assertThat(clip.record().model().transformerEncodings()).containsExactly("BF16", "F32");
    }

    @Test
    void aRunMakesTheNextPlanSure() {
        GenerateRequest request = request().outputs(2).build();
        RunPlan before = H3Planner.plan(OPTIONS, request, Rates.NONE);
        assertThat(before.probed()).isPresent();
        assertThat(before.certainty()).startsWith("a lower bound");
        Rates rates = Rates.read(Rates.NONE.with(first.record()).with(first.record()).toJson());
        RunPlan after = H3Planner.plan(OPTIONS, request, rates);
        assertThat(after.probed()).isEqualTo(OptionalDouble.empty());
        assertThat(after.certainty()).isEqualTo("measured 2 times on this machine");
        double denoising = first.record().stages().stream().filter(s -> s.stage() == Stage.DENOISING).findFirst().orElseThrow().seconds();
        assertThat(after.time()).filteredOn(t -> t.stage() == Stage.DENOISING).singleElement()
                .satisfies(t -> assertThat(t.seconds().getAsDouble()).as("two outputs").isCloseTo(2 * denoising, within(1e-9)));
    }

    /** Deltas are as wide as what they join, and where several join 16-bit values there is one more; what is fused into weights adds nothing. */
    @Test
    void adapters() {
        AdapterUse one = AdapterUse.of(NanoAdapter.write(folder.resolve("one.safetensors"), "", Map.of("alpha", "4")));
        Path editing = NanoAdapter.writeEditing(folder.resolve("editing.safetensors"));
        EngineOptions ranks = EngineOptions.builder().model(Geometries.NANO).threads(2).ranks(RankOptions.DEFAULTS.withTensorParallel(2)).build();
        EngineOptions half = EngineOptions.builder().model(Geometries.NANO).threads(2).precision(Precision.FP16_FP32RES).build();
        compare(OPTIONS, styled(one));
        compare(ranks, styled(one));
        compare(half, styled(one).adapter(one.scaled(0.5)));
        compare(EngineOptions.builder().model(Geometries.NANO).threads(2).precision(Precision.BF16_FP32RES).build(), styled(one));
        compare(OPTIONS, request().outputs(1).steps(4).adapter(AdapterUse.of(editing)));
    }

    private static GenerateRequest.Builder styled(AdapterUse adapter) {
        return request().outputs(1).flowShift(12).audioFlowShift(3).adapter(adapter);
    }

    /** Plans a request, makes it, and compares; what is said to fit does. */
    private static Clip compare(GenerateRequest.Builder builder) {
        return compare(OPTIONS, builder);
    }

    private static Clip compare(EngineOptions options, GenerateRequest.Builder builder) {
        GenerateRequest request = builder.build();
        RunPlan plan = H3Planner.plan(options, request, Rates.NONE);
        Clip clip;
        AtomicLong held = new AtomicLong();
        int ranks = options.ranks().tensorParallel();
        List<Backend> backends = IntStream.range(0, ranks).<Backend>mapToObj(_ -> CpuBackend.open(options.threads().getAsInt() / ranks)).toList();
        // A fresh engine: its networks' peaks are of this request alone.
        try (H3Engine engine = H3Engine.open(options, backends)) {
            clip = engine.generate(request, _ -> held.accumulateAndGet(backends.stream().mapToLong(Backend::workspaceBytes).sum(), Math::max));
        }
        assertThat(held.get()).as("what workspaces hold, the idle ends of their chunks included").isPositive().isLessThanOrEqualTo(plan.residency().hostBytes() - PROCESS);
        JsonNode planned = plan.toJson();
        JsonNode made = clip.record().toJson();
        for (String part : List.of("request", "rows", "execution")) {
            assertThat(planned.path(part)).as(part).isEqualTo(made.path(part));
        }
        assertThat(plan.usefulFlops()).isEqualTo(clip.record().usefulFlops());
        assertThat(plan.transformer()).isEqualTo(clip.record().model().transformer());
        assertThat(plan.encodings()).isEqualTo(clip.record().model().transformerEncodings());
        assertThat(plan.memory()).extracting(RunPlan.StageMemory::stage).containsExactlyInAnyOrderElementsOf(
                clip.record().stages().stream().map(s -> s.stage()).toList());
        clip.record().memory().scratchBytes().forEach((network, bytes) ->
                assertThat(plan.scratch().get(network)).as("scratch of the %s", network).isCloseTo(bytes, SCRATCH_MARGIN));
        return clip;
    }
}

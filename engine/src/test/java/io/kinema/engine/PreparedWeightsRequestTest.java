package io.kinema.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.kinema.compute.MatrixLayout;
import io.kinema.compute.Precision;
import io.kinema.engine.model.OriginalCopy;
import io.kinema.engine.model.TransformerFile;
import io.kinema.engine.record.StageTime;
import io.kinema.model.dit.DitConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A request has the same bits whether its weights are prepared for it, for an earlier one, or not at all. */
class PreparedWeightsRequestTest {
    private static final List<Stage> OF_PREPARED_WEIGHTS = List.of(Stage.CHECKING_PREPARED_WEIGHTS, Stage.REUSING_PREPARED_WEIGHTS, Stage.PREPARING_WEIGHTS);

    @TempDir
    private static Path shared;
    @TempDir
    private Path temp;
    private static Path model;

    @BeforeAll
    static void copyModel() throws IOException {
        model = TinyModel.in(shared.resolve("tiny"));
    }

    private static GenerateRequest request() {
        return GenerateRequest.prompt("A small robot walks.").size(64, 32).frames(22).steps(1).seed(7).build();
    }

    private static EngineOptions options(Path of, PreparedWeightsOptions prepared, UnaryOperator<EngineOptions.Builder> how) {
        return how.apply(EngineOptions.builder().model(of).threads(2).residency(ResidencyOptions.DEFAULTS.withPreparedWeights(prepared))).build();
    }

    private PreparedWeightsOptions inFolder() {
        return PreparedWeightsOptions.of(temp.resolve("cache") + "/");
    }

    private static Clip make(EngineOptions options, List<String> told) {
        try (H3Engine engine = H3Engine.open(options)) {
            return engine.generate(request(), event -> {
                if (event instanceof Progress.Message(String text)) {
                    told.add(text);
                }
            });
        }
    }

    private static List<Stage> stages(Clip clip) {
        return clip.record().stages().stream().map(StageTime::stage).filter(OF_PREPARED_WEIGHTS::contains).toList();
    }

    private static String outcomes(Clip clip) {
        return clip.record().execution().choices().getOrDefault("prepared_weights", "");
    }

    private static void same(Clip got, Clip expected) {
        assertThat(got.latents().video()).isEqualTo(expected.latents().video());
        assertThat(got.latents().audio()).isEqualTo(expected.latents().audio());
        assertThat(got.left()).isEqualTo(expected.left());
        for (int i = 0; i < expected.frameCount(); i++) {
            assertThat(got.frame(i)).as("frame %s", i).isEqualTo(expected.frame(i));
        }
    }

    /** Made without, made while they are prepared, and made with what was prepared. */
    private void sameThreeTimes(Path of, UnaryOperator<EngineOptions.Builder> how, String prepared) {
        Clip without = make(options(of, PreparedWeightsOptions.of("off"), how), new ArrayList<>());
        assertThat(stages(without)).isEmpty();
        Clip first = make(options(of, inFolder(), how), new ArrayList<>());
        same(first, without);
        assertThat(stages(first)).containsExactly(Stage.CHECKING_PREPARED_WEIGHTS, Stage.PREPARING_WEIGHTS);
        assertThat(outcomes(first)).contains(prepared + ": prepared").doesNotContain("reused");
        Clip second = make(options(of, inFolder(), how), new ArrayList<>());
        same(second, without);
        assertThat(stages(second)).startsWith(Stage.CHECKING_PREPARED_WEIGHTS, Stage.REUSING_PREPARED_WEIGHTS);
        assertThat(outcomes(second)).isEqualTo(outcomes(first).replace(": prepared", ": reused"));
    }

    @ParameterizedTest
    @CsvSource({"fp32, fp32, audio_vae_decoder", "fp16-fp32res, fp32, transformer", "bf16-fp32res, fp32, audio_vae_decoder", "fp16-fp32res, fp16-fp32res, vae_decoder",
            "bf16-fp32res, bf16-fp32res, vae_decoder"})
    void everyPlanHasTheSameBits(String precision, String vae, String prepared) {
        sameThreeTimes(model, how -> how.precision(Precision.labelled(precision).orElseThrow()).vaePrecision(Precision.labelled(vae).orElseThrow()), prepared);
    }

    @Test
    void columnsHaveTheSameBits() {
        sameThreeTimes(model, how -> how.precision(Precision.FP16_FP32RES).fp16WeightLayout(MatrixLayout.COLUMN), "transformer");
    }

    @ParameterizedTest
    @EnumSource(MatrixLayout.class)
    void ranksFindTheirPartsWithTheSameBits(MatrixLayout layout) {
        sameThreeTimes(model, how -> how.precision(Precision.FP16_FP32RES).fp16WeightLayout(layout).ranks(RankOptions.DEFAULTS.withTensorParallel(2)), "transformer");
    }

    @ParameterizedTest
    @EnumSource
    void theOriginalLayoutHasTheSameBits(Precision precision) throws IOException {
        Path original = OriginalCopy.fl2va(temp.resolve("original"));
        Path index = original.resolve("model_index.json");
        Files.writeString(index, Files.readString(index).replaceFirst("\\{", "{\"canvas_short_edge\": 64, \"canvas_max_pixels\": 7168,"));
        sameThreeTimes(original, how -> how.precision(precision), "transformer");
    }

    @ParameterizedTest
    @ValueSource(strings = {"fp8.safetensors", "q8_0.gguf", "bf16.gguf"})
    void codedTransformersHaveTheSameBits(String name) throws IOException {
        TransformerFile file = TransformerFile.of(model.resolve("transformer"), DitConfig.read(io.kinema.engine.model.ModelFolder.open(model)
                .config(io.kinema.engine.model.Component.TRANSFORMER)).ropeFrequencies());
        Path written = switch (name) {
            case "fp8.safetensors" -> file.float8(temp.resolve(name), true);
            case "q8_0.gguf" -> file.gguf(temp.resolve(name), false, tensor -> tensor.contains(".weight"));
            default -> file.gguf(temp.resolve(name), false, _ -> false);
        };
        sameThreeTimes(model, how -> how.precision(Precision.FP16_FP32RES).transformer(written), "text_encoder");
    }

    @Test
    void aDamagedEntryIsMadeAnewAndSaysSo() throws IOException {
        UnaryOperator<EngineOptions.Builder> how = builder -> builder.precision(Precision.FP16_FP32RES);
        Clip first = make(options(model, inFolder(), how), new ArrayList<>());
        try (Stream<Path> files = Files.walk(temp.resolve("cache"))) {
            for (Path weights : files.filter(file -> file.endsWith("weights.bin")).toList()) {
                byte[] bytes = Files.readAllBytes(weights);
                bytes[bytes.length / 2] ^= 1;
                Files.write(weights, bytes);
            }
        }
        List<String> told = new ArrayList<>();
        Clip second = make(options(model, inFolder(), how), told);
        same(second, first);
        assertThat(told).anySatisfy(line -> assertThat(line).startsWith("prepared weights of transformer are made anew: tensor ").endsWith("is not what was written"));
        assertThat(outcomes(second)).contains("transformer: prepared");
    }

    @Test
    void aFolderThatCannotBeUsedIsSaidAndTheRequestGoesOn() throws IOException {
        Path file = Files.writeString(temp.resolve("file"), "no folder");
        UnaryOperator<EngineOptions.Builder> how = builder -> builder.precision(Precision.FP16_FP32RES);
        List<String> told = new ArrayList<>();
        Clip clip = make(options(model, PreparedWeightsOptions.of(file.toString()), how), told);
        same(clip, make(options(model, PreparedWeightsOptions.of("off"), how), new ArrayList<>()));
        assertThat(told).anySatisfy(line -> assertThat(line).startsWith("prepared weights of transformer are not kept: " + file + " cannot be used"));
        assertThat(outcomes(clip)).contains("transformer: not kept");
    }

    @Test
    void smallModelsKeepNothingUnlessTold() {
        Path folder = temp.resolve("cache");
        Clip clip = make(options(model, new PreparedWeightsOptions(PreparedWeightsOptions.Use.AUTO, Optional.of(folder)),
                builder -> builder.precision(Precision.FP16_FP32RES)), new ArrayList<>());
        assertThat(stages(clip)).isEmpty();
        assertThat(folder).doesNotExist();
    }

    @ParameterizedTest
    @EnumSource(names = {"CHECKING_PREPARED_WEIGHTS", "PREPARING_WEIGHTS", "REUSING_PREPARED_WEIGHTS"})
    void aRequestIsCancelledWhileItPreparesAndTheNextOneRuns(Stage stage) {
        EngineOptions options = options(model, inFolder(), builder -> builder.precision(Precision.FP16_FP32RES));
        if (stage == Stage.REUSING_PREPARED_WEIGHTS) {
            make(options, new ArrayList<>());
        }
        try (H3Engine engine = H3Engine.open(options)) {
            Cancellation cancellation = new Cancellation();
            assertThatExceptionOfType(CancelledException.class).isThrownBy(() -> engine.generate(request(), event -> {
                if (event instanceof Progress.StageStarted(Stage started) && started == stage) {
                    cancellation.cancel();
                }
            }, cancellation)).withMessageStartingWith("cancelled while " + stage.label());
            assertThat(outcomes(engine.generate(request()))).contains("transformer: ");
        }
        assertThat(outcomes(make(options, new ArrayList<>()))).contains("transformer: reused");
    }

    @Test
    void twoEnginesOfOneProcessPrepareOnce() {
        EngineOptions options = options(model, inFolder(), builder -> builder.precision(Precision.FP16_FP32RES));
        List<CompletableFuture<Clip>> both = Stream.generate(() -> CompletableFuture.supplyAsync(() -> make(options, new ArrayList<>()))).limit(2).toList();
        Clip first = both.getFirst().join();
        Clip second = both.getLast().join();
        same(first, second);
        assertThat(Stream.of(first, second).map(PreparedWeightsRequestTest::outcomes)).satisfiesExactlyInAnyOrder(
                one -> assertThat(one).contains("transformer: prepared"), other -> assertThat(other).contains("transformer: reused"));
    }
}

package io.kinema.engine;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.kinema.engine.forecast.Rates;
import io.kinema.media.image.PngWriter;
import io.kinema.media.image.RgbImage;
import io.kinema.model.layout.Network;
import io.kinema.model.load.Inventory;
import io.kinema.weights.DType;
import io.kinema.weights.RandomTensors;
import io.kinema.weights.SafetensorsWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every task on several ranks, with adapters and without, as far from one rank as sums in another order are. */
class TaskRanksTest {
    private static final Path ADAPTER = Path.of("style.safetensors");

    @TempDir
    private static Path shared;
    private static Path model;
    private static Path picture;

    /** The golden cases' small model with four heads, which ranks can share, and random weights in their matrices. */
    @BeforeAll
    static void prepare() throws IOException {
        model = TinyModel.in(shared.resolve("tiny"));
        fourHeads(model.resolve("transformer"));
        fourHeads(model.resolve("transformer_ref"));
        picture = shared.resolve("picture.png");
        byte[] rgb = new byte[64 * 32 * 3];
        for (int i = 0; i < rgb.length; i++) {
            rgb[i] = (byte) (i * 7);
        }
        PngWriter.write(new RgbImage(64, 32, rgb), picture);
        NanoAdapter.write(shared.resolve(ADAPTER), "", Map.of("alpha", "4"), new NanoAdapter.Sizes(48, 128, 80, 3, 2));
    }

    private static void fourHeads(Path transformer) throws IOException {
        Path config = transformer.resolve("config.json");
        Files.writeString(config, Files.readString(config).replaceFirst("\"num_attention_heads\": *2", "\"num_attention_heads\": 4"));
        List<RandomTensors.Entry> entries = Network.TRANSFORMER.inventory(new ObjectMapper().readTree(config.toFile())).entries().stream()
                .map(entry -> new RandomTensors.Entry(entry.name(), entry.rule() == Inventory.Rule.FP32 ? DType.F32 : DType.BF16, entry.shape())).toList();
        try (RandomTensors weights = RandomTensors.of("four heads", entries, 3); Stream<Path> files = Files.list(transformer)) {
            for (Path file : files.filter(f -> f.getFileName().toString().contains(".safetensors")).toList()) {
                Files.delete(file);
            }
            SafetensorsWriter.write(transformer.resolve("diffusion_pytorch_model.safetensors"), weights.names().stream().map(weights::get).toList(), Map.of());
        }
    }

    private static GenerateRequest request(String task, boolean adapted) {
        GenerateRequest.Builder request = GenerateRequest.prompt("A small robot walks.").size(64, 32).frames(22).steps(3).seed(7);
        switch (task) {
            case "t2va" -> { }
            case "fl2va" -> request.image(picture).lastImage(picture);
            case "ref2va" -> request.reference(new Reference.Image(picture));
            default -> throw new IllegalArgumentException(task);
        }
        if (adapted) {
            request.flowShift(12).audioFlowShift(3).adapter(AdapterUse.of(shared.resolve(ADAPTER)).scaled(0.7));
        }
        return request.build();
    }

    private static EngineOptions options(int ranks) {
        return EngineOptions.builder().model(model).ranks(RankOptions.DEFAULTS.withTensorParallel(ranks)).build();
    }

    private static Clip generate(GenerateRequest request, int ranks) {
        try (H3Engine engine = H3Engine.open(options(ranks))) {
            return engine.generate(request);
        }
    }

    @ParameterizedTest
    @CsvSource({"t2va, 2, true", "t2va, 4, true", "fl2va, 2, false", "fl2va, 4, true", "ref2va, 2, true", "ref2va, 4, false"})
    void ranksMakeTheTaskOfOne(String task, int ranks, boolean adapted) {
        GenerateRequest request = request(task, adapted);
        Clip one = generate(request, 1);
        Clip several = generate(request, ranks);
        assertThat(RelativeL2.of(several.latents().video(), one.latents().video())).as("video").isLessThanOrEqualTo(1e-5);
        assertThat(RelativeL2.of(several.latents().audio(), one.latents().audio())).as("sound").isLessThanOrEqualTo(1e-5);
        assertThat(several.record().usefulFlops()).as("what the plan says").isEqualTo(H3Planner.plan(options(ranks), request, Rates.NONE).usefulFlops());
        assertThat(several.record().execution().choices()).containsEntry("text_encoder_ranks", "" + ranks);
    }
}

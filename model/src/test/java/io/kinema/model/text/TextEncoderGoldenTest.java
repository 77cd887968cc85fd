package io.kinema.model.text;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.compute.Backend;
import io.kinema.compute.Precision;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.model.GoldenCase;
import io.kinema.model.TestBackends;
import io.kinema.model.load.Parameters.Rounding;
import io.kinema.weights.Checkpoint;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The text encoder against numbers of the reference implementation. */
class TextEncoderGoldenTest {

    static Stream<Arguments> cases() {
        Path root = GoldenCase.full().orElse(GoldenCase.bundled());
        return Stream.of("text_only", "one_image", "ref_video", "two_images", "ref_mixed", "long_text")
                .map(c -> root.resolve("text_encoder").resolve(c)).filter(Files::isDirectory)
                .flatMap(folder -> TestBackends.all().stream().map(backend -> Arguments.of(folder, backend)));
    }

    @ParameterizedTest
    @MethodSource("cases")
    void reproducesTheReference(Path folder, Supplier<Backend> backends) {
        try (GoldenCase golden = GoldenCase.open(folder.getParent(), folder.getFileName().toString()); Backend backend = backends.get()) {
            JsonNode check = golden.check("fp32").orElseThrow();
            Map<String, Double> stages = encode(backend, golden, check, Precision.FP32, Rounding.AS_STORED);
            assertThat(stages).as("stages of %s", golden).allSatisfy((name, difference) -> assertThat(difference).isLessThan(3e-5));
            assertThat(stages.keySet()).as("stages of %s", golden).hasSize(check.path("stages").size());
            golden.check("bf16").ifPresent(bf16 -> encode(backend, golden, bf16, Precision.BF16_FP32RES, Rounding.BF16));
        }
    }

    private static Map<String, Double> encode(Backend backend, GoldenCase golden, JsonNode check, Precision precision, Rounding rounding) {
        Map<String, Double> stages = new LinkedHashMap<>();
        Path weights = golden.weights().resolve("text_encoder");
        TextEncoderConfig config = TextEncoderConfig.read(GoldenCase.json(weights.resolve("config.json")));
        int layer = check.get("args").get("layer").asInt();
        try (Checkpoint source = Checkpoint.open(weights);
             TextEncoder encoder = TextEncoder.open(backend, source, config, layer, precision, rounding);
             Workspace memory = backend.workspace("test")) {
            golden.assertOutput(check, "prompt_embeds", encoder.encode(input(golden, check), memory, golden.measuring(check, stages)));
        }
        return stages;
    }

    static TextEncoderInput input(GoldenCase golden, JsonNode check) {
        return TextEncoderInput.of(golden.ints(check, "input_ids"), vision(golden, check, "pixel_values_u8", "image_grid_thw"),
                vision(golden, check, "pixel_values_videos_u8", "video_grid_thw"));
    }

    private static Optional<VisionInput> vision(GoldenCase golden, JsonNode check, String pixels, String grids) {
        if (!check.get("in").has(pixels)) {
            return Optional.empty();
        }
        int[] sizes = golden.ints(check, grids);
        List<PatchGrid> list = new ArrayList<>();
        for (int i = 0; i < sizes.length; i += 3) {
            list.add(new PatchGrid(sizes[i], sizes[i + 1], sizes[i + 2]));
        }
        return Optional.of(new VisionInput(expand(golden.input(check, pixels)), list));
    }

    /** Bytes to pixel values; without a temporal axis both temporal copies are equal. */
    private static Tensor expand(Tensor bytes) {
        int rows = bytes.size(0);
        int channels = bytes.size(1);
        int frames = bytes.rank() == 5 ? bytes.size(2) : 1;
        int area = bytes.size(-1) * bytes.size(-2);
        float[] in = bytes.toFloats();
        float[] out = new float[rows * channels * 2 * area];
        for (int i = 0; i < out.length; i++) {
            int frame = i / area % 2;
            int row = i / area / 2;
            out[i] = (in[(row * frames + Math.min(frame, frames - 1)) * area + i % area] - 127.5f) / 127.5f;
        }
        return Tensor.ofFloats(out, rows, (long) channels * 2 * area);
    }
}

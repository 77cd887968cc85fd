package io.kinema.engine;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kinema.compute.Device;
import io.kinema.compute.Tensor;
import io.kinema.weights.SafetensorsFile;
import io.kinema.weights.StoredTensor;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The bundled model's final latents against those that the reference implementation computed with PyTorch. */
class NanoReferenceTest {
    private static final double LIMIT = 1e-3;
    private static final Path PREVIEWS = Geometries.NANO.resolve("previews");

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void finalLatentsAreTheReferences(int index) throws IOException {
        JsonNode sample = stored(index);
        // The samples count grid points, one more than evaluations.
        GenerateRequest request = GenerateRequest.prompt(sample.path("prompt").asText()).seed(sample.path("seed").asLong())
                .steps(sample.path("num_inference_steps").asInt() - 1).frames(sample.path("num_frames").asInt())
                .size(sample.path("width").asInt(), sample.path("height").asInt()).build();
        try (H3Engine engine = H3Engine.open(EngineOptions.builder().model(Geometries.NANO).build())) {
            Clip clip = engine.generate(request);
            assertThat(relative(clip.latents().video(), stored("sample" + index + ".latents"))).isLessThan(LIMIT);
            assertThat(relative(clip.latents().audio(), stored("sample" + index + ".audio_latents"))).isLessThan(LIMIT);
            assertThat(clip.record().sound().rms()).isCloseTo(sample.path("audio_rms").asDouble(), org.assertj.core.api.Assertions.within(1e-4));
        }
    }

    /** The index lists every clip at 21 and at 9 grid points; latents are kept of the first two at 21. */
    private static JsonNode stored(int index) throws IOException {
        return new ObjectMapper().readTree(PREVIEWS.resolve("samples.json").toFile()).path("samples").valueStream()
                .filter(s -> s.path("num_inference_steps").asInt() == 21).toList().get(index);
    }

    private static float[] stored(String name) {
        try (SafetensorsFile file = SafetensorsFile.open(PREVIEWS.resolve("reference_latents.safetensors"))) {
            StoredTensor tensor = file.get(name);
            return Tensor.of(tensor.dtype(), tensor.shape(), tensor.data(), Device.CPU).toFloats();
        }
    }

    private static double relative(float[] got, float[] expected) {
        assertThat(got).hasSameSizeAs(expected);
        double difference = 0;
        double norm = 0;
        for (int i = 0; i < got.length; i++) {
            difference += Math.pow((double) got[i] - expected[i], 2);
            norm += (double) expected[i] * expected[i];
        }
        return Math.sqrt(difference / norm);
    }
}

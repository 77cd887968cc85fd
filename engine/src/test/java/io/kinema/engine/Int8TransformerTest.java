package io.kinema.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kinema.compute.Precision;
import io.kinema.engine.convert.QuantizeOptions;
import io.kinema.engine.convert.Quantizer;
import io.kinema.engine.record.ProvenanceTags;
import io.kinema.weights.BadWeightsException;
import io.kinema.weights.Checkpoint;
import io.kinema.weights.SafetensorsWriter;
import io.kinema.weights.StoredTensor;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The bundled model with its transformer quantised to the published INT8 form and named on the command line. */
class Int8TransformerTest {
    private static final GenerateRequest REQUEST = GenerateRequest.prompt("A red circle bounces.").size(96, 64).frames(5).steps(2).seed(3).build();

    @TempDir
    private static Path folder;

    private static Path int8;
    private static Clip floats;

    @BeforeAll
    static void quantise() {
        int8 = folder.resolve("h3_nano_fl2va_int8_convrot.safetensors");
        Quantizer.quantize(Geometries.NANO, int8, new QuantizeOptions(256, false, Optional.empty(), Optional.empty(), Optional.empty(), 2), _ -> { });
        floats = make(options(Precision.FP32).build());
    }

    private static EngineOptions.Builder options(Precision precision) {
        return EngineOptions.builder().model(Geometries.NANO).threads(2).precision(precision);
    }

    private static Clip make(EngineOptions options) {
        try (H3Engine engine = H3Engine.open(options)) {
            return engine.generate(REQUEST);
        }
    }

    private static double difference(float[] got, float[] expected) {
        double error = 0;
        double norm = 0;
        for (int i = 0; i < got.length; i++) {
            error += (got[i] - expected[i]) * (double) (got[i] - expected[i]);
            norm += expected[i] * (double) expected[i];
        }
        return Math.sqrt(error / norm);
    }

    @ParameterizedTest
    @EnumSource
    void clipsAreWithinAFewPercentOfTheFloatsInEveryPlan(Precision precision) {
        Clip clip = make(options(precision).transformer(int8).build());
        assertThat(difference(clip.latents().video(), floats.latents().video())).isBetween(1e-4, 0.03);
        assertThat(difference(clip.latents().audio(), floats.latents().audio())).isBetween(1e-4, 0.03);
        assertThat(clip.record().model().transformerEncodings()).contains("INT8 rotated by 64", "INT8 rotated by 256");
        assertThat(ProvenanceTags.of(clip.record())).extractingByKey("kinema.transformer_encodings").asString().contains("INT8 rotated by 64");
        assertThat(make(options(precision).transformer(int8).threads(1).build()).latents().video()).as("on one thread").isEqualTo(clip.latents().video());
    }

    @Test
    void aFileWithOneMarkerLessIsRefusedBeforeARun() {
        Path cut = folder.resolve("cut_fl2va.safetensors");
        String marker = "blocks.2.mlp.fc2.comfy_quant";
        try (Checkpoint whole = Checkpoint.open(int8)) {
            List<StoredTensor> rest = whole.names().stream().filter(n -> !n.equals(marker)).map(whole::get).toList();
            SafetensorsWriter.write(cut, rest, Map.of());
        }
        try (H3Engine engine = H3Engine.open(options(Precision.FP32).transformer(cut).build())) {
            assertThatThrownBy(() -> engine.check(REQUEST)).isInstanceOf(BadWeightsException.class).hasMessageContaining(marker);
        }
    }
}

package io.kinema.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.kinema.compute.Precision;
import io.kinema.engine.convert.QuantizeOptions;
import io.kinema.engine.convert.Quantizer;
import io.kinema.engine.model.Component;
import io.kinema.engine.model.ModelFolder;
import io.kinema.engine.model.NetworkFolder;
import io.kinema.engine.model.TransformerFile;
import io.kinema.model.dit.DitConfig;
import io.kinema.weights.BadWeightsException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The bundled model makes clips from its transformer in other formats, and they are nearly those of its own weights. */
class CodedTransformerTest {
    private static final GenerateRequest REQUEST = GenerateRequest.prompt("A red circle bounces").size(96, 64).frames(22).steps(3).seed(1).build();

    @TempDir
    Path folder;

    @Test
    void int8AndGgufMakeNearlyTheSameLatents() throws IOException {
        NetworkFolder own = ModelFolder.open(Geometries.NANO).network(Component.TRANSFORMER);
        Path int8 = folder.resolve("int8.safetensors");
        Quantizer.quantize(Geometries.NANO, int8, new QuantizeOptions(256, false, Optional.empty(), Optional.empty(), Optional.empty(), 2), name -> { });
        TransformerFile file = TransformerFile.of(own.folder(), DitConfig.read(own.config()).ropeFrequencies());
        Path bf16 = file.gguf(folder.resolve("bf16.gguf"), false, name -> false);
        Path q8 = file.gguf(folder.resolve("q8_0.gguf"), false, TransformerFile::matrixOfABlock);
        Path q4 = file.gguf(folder.resolve("q4_k.gguf"), true, TransformerFile::matrixOfABlock);
        float[] expected = latents(Optional.empty(), Precision.FP32);
        assertThat(latents(Optional.of(bf16), Precision.FP32)).isEqualTo(expected);
        assertThat(distance(expected, latents(Optional.of(int8), Precision.FP32))).isBetween(1e-4, 0.02);
        assertThat(distance(expected, latents(Optional.of(q8), Precision.FP32))).isBetween(1e-4, 0.02);
        assertThat(distance(expected, latents(Optional.of(q8), Precision.FP16_FP32RES))).isBetween(1e-4, 0.02);
        assertThat(distance(expected, latents(Optional.of(q4), Precision.FP32))).isBetween(1e-3, 0.2);
        Path ref = file.gguf(folder.resolve("h3-ref2va-q8.gguf"), false, name -> false);
        assertThatExceptionOfType(BadWeightsException.class).isThrownBy(() -> latents(Optional.of(ref), Precision.FP32))
                .withMessageContaining("is of the partition ref2va by its name");
        // Whoever makes many clips with it can be told before the first that it serves one task, and each request that it does not.
        try (H3Planner planner = H3Planner.open(EngineOptions.builder().model(Geometries.NANO).transformer(ref).build())) {
            planner.check();
            assertThatExceptionOfType(BadRequestException.class).isThrownBy(() -> planner.resolve(REQUEST))
                    .withMessage("task: got t2va, expected one of the partition that the weights are of by their name: ref2va");
        }
    }

    private static float[] latents(Optional<Path> transformer, Precision precision) {
        EngineOptions.Builder options = EngineOptions.builder().model(Geometries.NANO).precision(precision);
        transformer.ifPresent(options::transformer);
        try (H3Engine engine = H3Engine.open(options.build())) {
            return engine.generate(REQUEST, ProgressListener.NONE).latents().video();
        }
    }

    private static double distance(float[] expected, float[] got) {
        double error = 0;
        double norm = 0;
        for (int i = 0; i < got.length; i++) {
            error += (got[i] - expected[i]) * (double) (got[i] - expected[i]);
            norm += expected[i] * (double) expected[i];
        }
        return Math.sqrt(error / norm);
    }
}

package io.kinema.model.audio;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.compute.Backend;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.compute.cpu.CpuBackend;
import io.kinema.compute.reference.ReferenceBackend;
import io.kinema.model.GoldenCase;
import io.kinema.model.StageTap;
import io.kinema.weights.Checkpoint;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The audio VAE against numbers of the reference implementation. */
class AudioVaeGoldenTest {
    static Stream<Path> cases() throws IOException {
        try (Stream<Path> folders = Files.list(GoldenCase.full().orElse(GoldenCase.bundled()).resolve("audio_vae"))) {
            return folders.sorted().toList().stream();
        }
    }

    @ParameterizedTest
    @MethodSource("cases")
    void cpuCasesReproduceTheReference(Path folder) {
        check(folder, CpuBackend.open(2));
    }

    @ParameterizedTest
    @MethodSource("cases")
    void scalarCasesReproduceTheReference(Path folder) {
        check(folder, new ReferenceBackend());
    }

    private static void check(Path folder, Backend owned) {
        try (Backend backend = owned;
             GoldenCase golden = GoldenCase.open(folder.getParent(), folder.getFileName().toString());
             Checkpoint source = Checkpoint.open(golden.weights());
             AudioVae vae = AudioVae.open(backend, source, AudioVaeConfig.read(GoldenCase.json(golden.weights().resolve("config.json"))));
             Workspace memory = backend.workspace("test")) {
            JsonNode check = golden.check("fp32").or(() -> golden.check("")).orElseThrow();
            Map<String, Double> stages = new LinkedHashMap<>();
            StageTap tap = golden.measuring(check, stages);
            switch (check.get("op").asText()) {
                case "encode" -> checkEncode(golden, check, vae, tap, memory);
                case "decode" -> golden.assertOutput(check, "waveform", vae.decode(golden.input(check, "latents"), tap, memory));
                default -> check.get("out").fieldNames().forEachRemaining(name -> golden.assertOutput(check, name, vae.buffer(name).orElseThrow()));
            }
            assertThat(stages.keySet()).hasSize(check.path("stages").size());
            assertThat(stages).allSatisfy((name, difference) -> assertThat(difference).isLessThan(1e-5));
        }
    }

    private static void checkEncode(GoldenCase golden, JsonNode check, AudioVae vae, StageTap tap, Workspace memory) {
        AudioPosterior posterior = vae.encode(golden.input(check, "waveform"), tap, memory);
        golden.assertOutput(check, "mean", posterior.mean());
        golden.assertOutput(check, "logs", posterior.logs());
        int latents = posterior.mean().size(2);
        float[] normalised = vae.config().statistics().normalise(posterior.mean().toFloats(), latents);
        golden.assertOutput(check, "condition_rows",
                Tensor.ofFloats(normalised, posterior.mean().shape().toArray()).permute(0, 2, 1));
    }
}

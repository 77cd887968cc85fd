package io.kinema.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** All commands agree on what a model folder may be: one whose weights random values stand in for, too. */
class ModelFolderCommandsTest {
    private static final Path NANO = Path.of(System.getProperty("kinema.root"), "models", "h3-nano");
    private static final List<String> NETWORKS = List.of("text_encoder", "transformer", "vae", "audio_vae");

    @TempDir
    private Path folder;

    @Test
    void randomWeightsAreReadByEveryCommand() throws IOException {
        Path model = randomModel();
        String clip = folder.resolve("clip.mp4").toString();
        JsonNode plan = json("plan", "A red circle", "--width", "64", "--height", "64", "--frames", "22", "--steps", "1", "--model", model.toString(), "--json");
        JsonNode record = json("generate", "A red circle", "--width", "64", "--height", "64", "--frames", "22", "--steps", "1", "--model", model.toString(),
                "--output", clip, "--quiet", "--json").path("record");
        assertThat(plan.path("request")).isEqualTo(record.path("request"));
        JsonNode report = json("inspect", model.toString(), "--json");
        assertThat(report.path("bytes").asLong()).isEqualTo(plan.findValue("weight_bytes").asLong()).isPositive();
        report.path("components").forEach(component -> {
            boolean network = NETWORKS.contains(component.path("name").asText().replace("_ref", ""));
            assertThat(component.path("random_weights").asBoolean()).as(component.path("name").asText()).isEqualTo(network);
            assertThat(component.path("fits_config").asBoolean()).isEqualTo(network);
        });
        assertThat(printed(ExitCode.DONE, "inspect", model.resolve("transformer").toString())).contains("tensors of random values in place of weights");
        assertThat(json("doctor", "--model", model.toString(), "--json").path("model").path("value").asText()).contains("t2va", "random values in place of weights");
    }

    @ParameterizedTest
    @ValueSource(strings = {"plan", "generate"})
    void aTransformerOfRandomWeightsInPlaceOfTheModels(String command) throws IOException {
        Path transformer = randomModel().resolve("transformer");
        JsonNode document = json(command, "A red circle", "--width", "64", "--height", "64", "--frames", "22", "--steps", "1", "--transformer", transformer.toString(),
                "--output", folder.resolve("clip.mp4").toString(), "--quiet", "--json");
        assertThat(document.isObject()).isTrue();
    }

    @Test
    void aModelWithWeightsIsTheSameForAll() throws IOException {
        JsonNode plan = json("plan", "A red circle", "--model", NANO.toString(), "--json");
        assertThat(json("inspect", NANO.toString(), "--json").path("bytes").asLong()).isEqualTo(plan.findValue("weight_bytes").asLong());
        assertThat(json("doctor", "--json").path("model").path("value").asText()).isEqualTo(NANO.toAbsolutePath().normalize() + ", for t2va, fl2va, ref2va");
    }

    /** Neither silently wins. */
    @Test
    void weightsBesideAFileThatAsksForRandomOnesAreRefusedByAll() throws IOException {
        Path model = randomModel();
        Files.copy(NANO.resolve("vae/diffusion_pytorch_model.safetensors"), model.resolve("vae/diffusion_pytorch_model.safetensors"));
        String says = "has random_weights.json and diffusion_pytorch_model.safetensors, expected one of them; remove the one that is not meant";
        for (List<String> command : List.of(List.of("plan", "A red circle", "--model", model.toString()),
                List.of("generate", "A red circle", "--output", folder.resolve("clip.mp4").toString(), "--model", model.toString()), List.of("inspect", model.toString()))) {
            Captured terminal = new Captured(false);
            assertThat(terminal.kinema(command.toArray(String[]::new))).isEqualTo(ExitCode.BAD_INPUT);
            assertThat(terminal.errors()).singleElement().asString().contains(says);
        }
        assertThat(json("doctor", "--model", model.toString(), "--json").path("model").path("advice").asText()).contains(says);
    }

    @Test
    void aConvertedModelOfRandomValuesHasWeights() throws IOException {
        Path converted = folder.resolve("converted");
        printed(ExitCode.DONE, "convert", randomModel().toString(), "--output", converted.toString(), "--quiet");
        try (Stream<Path> files = Files.walk(converted)) {
            assertThat(files.filter(file -> file.endsWith("random_weights.json"))).isEmpty();
        }
        assertThat(json("inspect", converted.toString(), "--json").toString()).doesNotContain("random_weights");
    }

    @Test
    void randomValuesAreNotScanned() throws IOException {
        assertThat(printed(ExitCode.BAD_INPUT, "inspect", randomModel().toString(), "--scan-fp16")).contains("random values stand in for its weights");
    }

    private Path randomModel() throws IOException {
        Path model = folder.resolve("random-model");
        try (Stream<Path> files = Files.walk(NANO)) {
            for (Path file : files.filter(f -> !f.startsWith(NANO.resolve("previews")) && !f.toString().endsWith(".safetensors")).toList()) {
                Files.copy(file, model.resolve(NANO.relativize(file).toString()));
            }
        }
        for (String network : NETWORKS) {
            Files.writeString(model.resolve(network).resolve("random_weights.json"), "{\"dtype\": \"F32\", \"seed\": 7}");
        }
        return model;
    }

    private static JsonNode json(String... arguments) throws IOException {
        Captured terminal = new Captured(false);
        int exit = terminal.kinema(arguments);
        // The doctor of tests finds no start-up cache, which is what its exit code says.
        assertThat(exit).as(terminal.err()).isEqualTo(arguments[0].equals("doctor") ? exit : ExitCode.DONE);
        return new ObjectMapper().readTree(terminal.out());
    }

    private static String printed(int exit, String... arguments) {
        Captured terminal = new Captured(false);
        assertThat(terminal.kinema(arguments)).as(terminal.err()).isEqualTo(exit);
        return terminal.out() + terminal.err();
    }
}

package io.kinema.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class InspectTest {
    private static final Path ROOT = Path.of(System.getProperty("kinema.root"));
    private static final String MODEL = ROOT.resolve("testdata/goldens/checkpoint").toString();

    @TempDir
    Path folder;

    @Test
    void listsComponentsWithShapesAndCounts() {
        Captured terminal = new Captured(false);
        assertThat(terminal.kinema("inspect", MODEL)).isEqualTo(ExitCode.DONE);
        assertThat(terminal.out()).contains("transformer  MiniMaxH3Transformer3DModel", "74 tensors in 4 files", "BF16", "F32",
                "transformer_blocks.*.attn.to_q.weight  BF16 [64, 48] x 3", "scheduler", "no weights",
                "names of either layout, every tensor that its config implies and no other",
                "diffusers layout, every tensor that its config implies and no other");
        assertThat(terminal.err()).isEmpty();
    }

    @Test
    void listsEveryTensorOnRequest() {
        Captured terminal = new Captured(false);
        assertThat(terminal.kinema("inspect", "--tensors", MODEL + "/transformer")).isEqualTo(ExitCode.DONE);
        assertThat(terminal.out()).contains("transformer_blocks.2.attn.to_q.weight  BF16 [64, 48]");
    }

    @Test
    void printsOneJsonDocument() throws IOException {
        Captured terminal = new Captured(false);
        assertThat(terminal.kinema("inspect", "--json", MODEL)).isEqualTo(ExitCode.DONE);
        JsonNode document = new ObjectMapper().readTree(terminal.out());
        long sum = 0;
        for (JsonNode component : document.get("components")) {
            for (JsonNode tensor : component.get("tensors")) {
                sum += tensor.get("bytes").asLong();
            }
        }
        assertThat(document.get("bytes").asLong()).isEqualTo(sum).isPositive();
        assertThat(document.get("partitions")).isEmpty();
        assertThat(document.at("/components/3/layout").asText()).isEqualTo("diffusers");
        assertThat(document.at("/components/3/fits_config").asBoolean()).isTrue();
    }

    @Test
    void saysWhatDoesNotFitTheConfig() throws IOException {
        Path vae = Files.createDirectory(folder.resolve("vae"));
        try (Stream<Path> files = Files.list(Path.of(MODEL, "vae"))) {
            for (Path file : files.toList()) {
                Files.copy(file, vae.resolve(file.getFileName()));
            }
        }
        Path config = vae.resolve("config.json");
        Files.writeString(config, Files.readString(config).replace("\"decoder_num_layers\": 3", "\"decoder_num_layers\": 4"));
        Captured terminal = new Captured(false);
        assertThat(terminal.kinema("inspect", vae.toString())).isEqualTo(ExitCode.DONE);
        assertThat(terminal.out()).contains("diffusers layout, NOT what its config implies:",
                "16 missing (decoder.transformer_blocks.3.norm1.weight, decoder.transformer_blocks.3.attn.to_q.weight,");
        assertThat(terminal.kinema("inspect", "--json", vae.toString())).isEqualTo(ExitCode.DONE);
        assertThat(terminal.out()).contains("\"fits_config\" : false", "\"problem\" : ");
    }

    @Test
    void refusesABrokenFileInOneLine() throws IOException {
        Path file = Files.write(folder.resolve("cut \"x\" 中文.safetensors"), new byte[] {9, 0, 0, 0, 0, 0, 0, 0, '{'});
        Captured terminal = new Captured(false);
        assertThat(terminal.kinema("inspect", file.toString())).isEqualTo(ExitCode.BAD_INPUT);
        assertThat(terminal.errors()).hasSize(1);
        assertThat(terminal.err()).contains(file.toString(), "header length 9");
        assertThat(terminal.out()).isEmpty();
    }
}

package io.kinema.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
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
                "transformer_blocks.*.attn.to_q.weight  BF16 [64, 48] x 3", "scheduler", "no weights");
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

package io.kinema.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class AdaptersTest {
    private static final Path GOLDENS = Path.of(System.getProperty("kinema.root")).resolve("testdata/goldens");
    private static final String FILE = GOLDENS.resolve("lora/peft_rank4/pytorch_lora_weights.safetensors").toString();
    private static final String MODEL = GOLDENS.resolve("checkpoint").toString();

    @Test
    void saysWhatAnAdapterIs() {
        Captured terminal = new Captured(false);
        assertThat(terminal.kinema("adapters", "inspect", FILE, "--model", MODEL)).isEqualTo(ExitCode.DONE);
        assertThat(terminal.out()).contains("unknown, recognised by nothing", "diffusers module names, prefix transformer., lora_A.weight",
                "60 of 60 tensors: 30 low-rank modules of rank up to 4", "by the file", "transformer transformer", "--flow-shift");
        assertThat(terminal.err()).isEmpty();
    }

    @Test
    void printsOneJsonDocument() throws IOException {
        Captured terminal = new Captured(false);
        assertThat(terminal.kinema("adapters", "inspect", FILE, "--model", MODEL, "--json")).isEqualTo(ExitCode.DONE);
        JsonNode document = new ObjectMapper().readTree(terminal.out());
        assertThat(document.get("modules").asInt()).isEqualTo(30);
        assertThat(document.get("sha256").asText()).hasSize(64);
    }

    @Test
    void refusesInOneLine() {
        Captured terminal = new Captured(false);
        assertThat(terminal.kinema("adapters", "inspect", FILE)).as("made for another model than the bundled one").isEqualTo(ExitCode.BAD_INPUT);
        assertThat(terminal.errors()).hasSize(1);
        Captured generate = new Captured(false);
        assertThat(generate.kinema("generate", "A cat", "--output", "never.mp4", "--adapter", "absent.safetensors:0.5")).isEqualTo(ExitCode.BAD_INPUT);
        assertThat(generate.err()).contains("adapter absent.safetensors: no such file");
        Captured alpha = new Captured(false);
        assertThat(alpha.kinema("generate", "A cat", "--output", "never.mp4", "--adapter-alpha", "8")).isEqualTo(ExitCode.BAD_INPUT);
        assertThat(alpha.err()).contains("--adapter-alpha: got 8 without an adapter");
    }

    @Test
    void namesItsCommands() {
        Captured terminal = new Captured(false);
        assertThat(terminal.kinema("adapters")).isEqualTo(ExitCode.BAD_INPUT);
        assertThat(terminal.err()).contains("try inspect");
    }
}

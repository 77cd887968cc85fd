package io.kinema.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code convert}, {@code quantize} and {@code inspect --scan-fp16} as a person calls them. */
class ConversionTest {
    private static final Path ROOT = Path.of(System.getProperty("kinema.root"));
    private static final String TINY = ROOT.resolve("testdata/goldens/checkpoint/transformer").toString();
    private static final String NANO = ROOT.resolve("models/h3-nano/transformer").toString();

    @TempDir
    Path folder;

    @Test
    void convertsAndSaysWhatItWrote() throws IOException {
        Captured terminal = new Captured(false);
        String to = folder.resolve("größer 大").toString();
        assertThat(terminal.kinema("convert", TINY, "--output", to, "--layout", "original", "--dtype", "fp32")).isEqualTo(ExitCode.DONE);
        assertThat(terminal.out()).contains(to + ": 2 files, ", "every one read back; checksums in SHA256SUMS");
        assertThat(terminal.errors()).containsExactly("wrote config.json", "wrote model.safetensors", "wrote SHA256SUMS");
        Captured again = new Captured(false);
        assertThat(again.kinema("convert", TINY, "--output", to)).isEqualTo(ExitCode.BAD_INPUT);
        assertThat(again.err()).contains("is there already; give another --output, or --overwrite to replace it");
        Captured json = new Captured(false);
        assertThat(json.kinema("convert", to, "--output", folder.resolve("back").toString(), "--dtype", "bf16", "--quiet", "--json")).isEqualTo(ExitCode.DONE);
        JsonNode document = new ObjectMapper().readTree(json.out());
        assertThat(document.at("/files/0/name").asText()).isEqualTo("config.json");
        assertThat(document.at("/files/1/sha256").asText()).hasSize(64);
        assertThat(json.err()).isEmpty();
    }

    @Test
    void quantisesAndSaysByWhichRule() throws IOException {
        Captured terminal = new Captured(false);
        Path file = folder.resolve("nano.safetensors");
        assertThat(terminal.kinema("quantize", NANO, "--output", file.toString(), "--quiet")).isEqualTo(ExitCode.DONE);
        assertThat(terminal.out()).contains("32 matrices as INT8: 8 in groups of 256 on width 256, 8 in groups of 256 on width 512, 16 in groups of 64 on width 192",
                "relative L2 of the matrices: 0.00");
        Captured inspect = new Captured(false);
        assertThat(inspect.kinema("inspect", file.toString())).isEqualTo(ExitCode.DONE);
        assertThat(inspect.out()).contains("INT8 rotated by 64: 16 tensors", "ComfyUI layout, every tensor that its config implies and no other");
        Captured json = new Captured(false);
        assertThat(json.kinema("inspect", file.toString(), "--json")).isEqualTo(ExitCode.DONE);
        JsonNode component = new ObjectMapper().readTree(json.out()).at("/components/0");
        assertThat(component.at("/metadata/kinema.group_rule").asText()).isEqualTo("the largest power of 4 up to 256 that divides the input width");
        assertThat(component.at("/encodings/3/name").asText()).isEqualTo("INT8 rotated by 64");
        assertThat(component.at("/encodings/3/tensors").asInt()).isEqualTo(16);
    }

    /** The published group is kept, and what it costs is said at once; the size that is named does what it promises. */
    @Test
    void aFileThatRanksCannotShareSaysSo() {
        String nano = ROOT.resolve("models/h3-nano").toString();
        String wide = folder.resolve("wide.safetensors").toString();
        Captured terminal = new Captured(false);
        assertThat(terminal.kinema("quantize", nano, "--output", wide, "--quiet")).isEqualTo(ExitCode.DONE);
        assertThat(terminal.out().lines()).last().asString().isEqualTo("for --tensor-parallel 1; --group-size 64 makes a file that more ranks can share");
        Captured refused = new Captured(false);
        assertThat(refused.kinema("plan", "A red circle", "--transformer", wide, "--tensor-parallel", "4")).isEqualTo(ExitCode.BAD_INPUT);
        assertThat(refused.errors()).singleElement().asString().endsWith("kinema quantize MODEL --output FILE.safetensors --group-size 64");
        String narrow = folder.resolve("narrow.safetensors").toString();
        Captured again = new Captured(false);
        assertThat(again.kinema("quantize", nano, "--output", narrow, "--quiet", "--group-size", "64")).isEqualTo(ExitCode.DONE);
        assertThat(again.out()).doesNotContain("--tensor-parallel");
        assertThat(new Captured(false).kinema("plan", "A red circle", "--transformer", narrow, "--tensor-parallel", "4")).isEqualTo(ExitCode.DONE);
    }

    @Test
    void theRuleIsInTheHelp() {
        Captured terminal = new Captured(false);
        assertThat(terminal.kinema("quantize", "--help")).isEqualTo(ExitCode.DONE);
        assertThat(terminal.out().replaceAll("\\s+", " ")).contains("rotated in groups as wide as the largest power of 4, up to --group-size, that divides it");
    }

    @Test
    void scansForFp16() throws IOException {
        Captured terminal = new Captured(false);
        assertThat(terminal.kinema("inspect", "--scan-fp16", "--threads", "2", TINY)).isEqualTo(ExitCode.DONE);
        assertThat(terminal.out()).contains("overflow", "non-finite", "underflow", "relative L2", "transformer_blocks.2.attn.to_q.weight  BF16", "FP16 can hold every value");
        Captured json = new Captured(false);
        assertThat(json.kinema("inspect", "--scan-fp16", "--threads", "1", "--json", TINY)).isEqualTo(ExitCode.DONE);
        JsonNode document = new ObjectMapper().readTree(json.out());
        assertThat(document.get("fits_fp16").asBoolean()).isTrue();
        assertThat(document.at("/total/overflow").asLong()).isZero();
        assertThat(document.get("matrices")).hasSizeGreaterThan(30);
    }

    @Test
    void wrongWordsAreRefusedInOneLine() {
        for (String[] wrong : new String[][] {
            {"convert", TINY, "--output", "x", "--layout", "comfyui"}, {"convert", TINY, "--output", "x", "--dtype", "int8"},
            {"convert", folder.resolve("no").toString(), "--output", folder.resolve("x").toString()},
            {"quantize", TINY, "--output", folder.resolve("x.safetensors").toString(), "--group-size", "100"},
            {"quantize", TINY, "--output", folder.resolve("x.safetensors").toString(), "--task", "i2v"},
            {"quantize", ROOT.resolve("models/h3-nano/vae").toString(), "--output", folder.resolve("x.safetensors").toString()},
            {"inspect", "--scan-fp16", folder.resolve("no").toString()}}) {
            Captured terminal = new Captured(false);
            assertThat(terminal.kinema(wrong)).as(String.join(" ", wrong)).isEqualTo(ExitCode.BAD_INPUT);
            assertThat(terminal.errors()).as(String.join(" ", wrong)).hasSize(1);
        }
        assertThat(Files.exists(folder.resolve("x.safetensors"))).isFalse();
    }
}

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

/** Prepared weights as a user meets them: kept by a request, listed, checked, used again and removed. */
class PreparedTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    private Path folder;

    private static Captured kinema(int exit, String... arguments) {
        Captured run = new Captured(false);
        assertThat(run.kinema(arguments)).as(run.err()).isEqualTo(exit);
        return run;
    }

    private Captured generate(Path cache, String output) {
        return kinema(ExitCode.DONE, "generate", "A red circle", "--output", folder.resolve(output).toString(), "--width", "64", "--height", "64", "--frames", "22",
                "--steps", "1", "--precision", "fp16-fp32res", "--prepared-weights", cache.toString(), "--model", Shell.ROOT.resolve("models/h3-nano").toString());
    }

    @Test
    void areKeptListedCheckedReusedAndRemoved() throws IOException {
        Path cache = folder.resolve("cache");
        assertThat(kinema(ExitCode.DONE, "prepared", "--folder", cache.toString()).out()).startsWith("0 entries, 0.0 MB in ");
        assertThat(generate(cache, "first.mp4").err()).contains("preparing weights once (text_encoder, transformer, audio_vae_decoder), at most ", "checking prepared weights");
        assertThat(generate(cache, "second.mp4").err()).contains("reusing prepared weights").doesNotContain("preparing weights");
        assertThat(folder.resolve("second.mp4")).hasSameBinaryContentAs(folder.resolve("first.mp4"));
        JsonNode stages = JSON.readTree(folder.resolve("second.json").toFile()).path("stages");
        assertThat(stages.has("checking_prepared_weights_seconds")).isTrue();
        assertThat(stages.has("reusing_prepared_weights_seconds")).isTrue();

        JsonNode listed = JSON.readTree(kinema(ExitCode.DONE, "prepared", "--folder", cache.toString(), "--verify", "--json").out());
        assertThat(listed.path("entries").findValuesAsText("label")).containsExactlyInAnyOrder("text_encoder", "transformer", "audio_vae_decoder");
        assertThat(listed.path("bytes").asLong()).isEqualTo(listed.path("entries").findValues("bytes").stream().mapToLong(JsonNode::asLong).sum()).isPositive();
        try (Stream<Path> files = Files.walk(cache)) {
            Path weights = files.filter(file -> file.endsWith("weights.bin")).findFirst().orElseThrow();
            byte[] bytes = Files.readAllBytes(weights);
            bytes[7]++;
            Files.write(weights, bytes);
        }
        assertThat(kinema(ExitCode.FAILED, "prepared", "--folder", cache.toString(), "--verify").out()).contains("!!", "is not what was written");
        assertThat(kinema(ExitCode.DONE, "prepared", "--folder", cache.toString(), "--clear").out()).startsWith("0 entries");
    }

    @Test
    void wrongValuesAreOneLine() {
        for (List<String> wrong : List.of(List.of("generate", "A red circle", "--output", folder.resolve("a.mp4").toString(), "--prepared-weights", "maybe"),
                List.of("prepared", "--clear", "--verfy"))) {
            assertThat(kinema(ExitCode.BAD_INPUT, wrong.toArray(String[]::new)).errors()).singleElement().asString().containsAnyOf("auto, on, off", "--verify");
        }
    }
}

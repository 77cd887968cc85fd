package io.kinema.weights;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whatever an index says: the folder opens, or it is refused with one line; a file outside is never opened. */
class ShardIndexFuzzTest {
    private static final String[] TOKENS = {"../", "/", "..", "\\\\", "\\u0000", "{}", "[]", "null", "1", "\"", ":", ",", "weight_map", "m-2", ".safetensors",
        "m-1.safetensors", "outside", "./", "//", " "};

    @TempDir
    Path root;

    @Test
    void mutations() throws IOException {
        RawSafetensors.pair(root.resolve("outside.safetensors"), "a");
        Path folder = Files.createDirectory(root.resolve("model"));
        RawSafetensors.pair(folder.resolve("m-1.safetensors"), "a");
        RawSafetensors.pair(folder.resolve("m-2.safetensors"), "b");
        String good = "{\"metadata\":{\"total_size\":16},\"weight_map\":{\"a\":\"m-1.safetensors\",\"b\":\"m-2.safetensors\"}}";
        Random random = new Random(3);
        int opened = 0;
        for (int i = 0; i < 800; i++) {
            StringBuilder text = new StringBuilder(good);
            for (int edits = random.nextInt(3); edits >= 0; edits--) {
                int at = random.nextInt(text.length() + 1);
                int drop = random.nextInt(4) == 0 ? Math.min(text.length() - at, random.nextInt(17)) : 0;
                text.replace(at, at + drop, random.nextInt(5) == 0 ? "" : TOKENS[random.nextInt(TOKENS.length)]);
            }
            Files.write(folder.resolve("m.safetensors.index.json"), text.toString().getBytes(StandardCharsets.UTF_8));
            try (Checkpoint c = Checkpoint.open(folder)) {
                assertThat(c.files()).as(text::toString).allMatch(f -> f.normalize().startsWith(folder));
                opened++;
            } catch (BadWeightsException e) {
                assertThat(e.getMessage()).as(text::toString).contains(folder.toString()).doesNotContain("\n");
            }
        }
        assertThat(opened).as("some mutations are harmless, most are not").isBetween(1, 600);
    }
}

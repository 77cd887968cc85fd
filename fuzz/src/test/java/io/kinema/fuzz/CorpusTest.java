package io.kinema.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.cli.ArgumentsFuzz;
import io.kinema.weights.GgufFuzz;
import io.kinema.weights.SafetensorsFuzz;
import io.kinema.weights.prepared.PreparedManifestFuzz;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Every input that a fuzzer found interesting or broke something with, once more; needs no fuzzer. */
class CorpusTest {
    private static final Path CORPUS = Path.of(System.getProperty("kinema.root", ".")).resolve("fuzz/src/test/resources/corpus");
    private static final Map<String, Consumer<byte[]>> TARGETS = new TreeMap<>(Map.ofEntries(
            Map.entry("api", ApiFuzz::fuzzerTestOneInput), Map.entry("arguments", ArgumentsFuzz::fuzzerTestOneInput), Map.entry("audio", AudioFuzz::fuzzerTestOneInput),
            Map.entry("gguf", GgufFuzz::fuzzerTestOneInput), Map.entry("image", ImageFuzz::fuzzerTestOneInput), Map.entry("prepared", PreparedManifestFuzz::fuzzerTestOneInput),
            Map.entry("request", RequestFuzz::fuzzerTestOneInput), Map.entry("safetensors", SafetensorsFuzz::fuzzerTestOneInput),
            Map.entry("index", ShardIndexFuzz::fuzzerTestOneInput), Map.entry("tokenizer", TokenizerFuzz::fuzzerTestOneInput),
            Map.entry("video", VideoFuzz::fuzzerTestOneInput)));

    @TestFactory
    Stream<DynamicTest> everyInputIsReadOrRefused() {
        return TARGETS.entrySet().stream().map(target -> DynamicTest.dynamicTest(target.getKey(), () -> {
            for (Path input : inputs(target.getKey())) {
                try {
                    target.getValue().accept(Files.readAllBytes(input));
                } catch (Throwable e) {
                    throw new AssertionError(input + " does what no input may", e);
                }
            }
        }));
    }

    @Test
    void everyTargetHasInputs() {
        TARGETS.keySet().forEach(target -> assertThat(inputs(target)).as(target).isNotEmpty());
    }

    private static List<Path> inputs(String target) {
        try (Stream<Path> files = Files.list(CORPUS.resolve(target))) {
            return files.sorted().toList();
        } catch (IOException e) {
            throw new AssertionError("no corpus for " + target, e);
        }
    }
}

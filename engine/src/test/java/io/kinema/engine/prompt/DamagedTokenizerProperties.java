package io.kinema.engine.prompt;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.engine.golden.GoldenCase;
import io.kinema.weights.BadWeightsException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.BeforeContainer;

/** Whatever happened to a tokenizer's files, opening them works or is refused in one line; the process lives on. */
class DamagedTokenizerProperties {
    private static final Path READY = GoldenCase.root().resolve("models/h3-nano/tokenizer");
    private static final Path RELEASED = GoldenCase.subset().resolve("checkpoint/tokenizer");
    private static final String[] RELEASED_FILES = {"vocab.json", "merges.txt", "tokenizer_config.json"};
    private static Path folder;

    @BeforeContainer
    static void make() throws IOException {
        folder = Files.createTempDirectory("damaged");
    }

    @AfterContainer
    static void remove() throws IOException {
        clear();
        Files.delete(folder);
    }

    @Property(tries = 150)
    void changedBytesOfTokenizerJson(@ForAll @IntRange int place, @ForAll byte value) throws IOException {
        clear();
        write("tokenizer.json", changed(READY.resolve("tokenizer.json"), place, value));
        openOrRefuse();
    }

    @Property(tries = 150)
    void changedBytesOfReleasedFiles(@ForAll @IntRange(max = 2) int which, @ForAll @IntRange int place,
            @ForAll byte value) throws IOException {
        copyReleased();
        write(RELEASED_FILES[which], changed(RELEASED.resolve(RELEASED_FILES[which]), place, value));
        openOrRefuse();
    }

    @Property(tries = 100)
    void filesCutShort(@ForAll @IntRange(max = 3) int which, @ForAll @IntRange int length) throws IOException {
        copyReleased();
        String name = which == 3 ? "tokenizer.json" : RELEASED_FILES[which];
        byte[] whole = Files.readAllBytes((which == 3 ? READY : RELEASED).resolve(name));
        write(name, Arrays.copyOf(whole, length % whole.length));
        openOrRefuse();
    }

    @Example
    void aVocabularyCannotReachIntoTheDocumentAroundIt() throws IOException {
        copyReleased();
        String vocabulary = Files.readString(RELEASED.resolve("vocab.json")).strip();
        write("vocab.json", (vocabulary + "}, \"decoder\": {\"type\": 1").getBytes(java.nio.charset.StandardCharsets.UTF_8));
        openOrRefuse();
    }

    private static void openOrRefuse() {
        try (H3Tokenizer tokenizer = H3Tokenizer.open(folder)) {
            tokenizer.encodePrompt("A <d>fox</d> \ud83c\udfac <|image_pad|> 12");
        } catch (BadWeightsException e) {
            assertThat(e.getMessage().lines()).hasSize(1);
        }
    }

    private static byte[] changed(Path file, int place, byte value) throws IOException {
        byte[] bytes = Files.readAllBytes(file);
        bytes[place % bytes.length] = value;
        return bytes;
    }

    private static void write(String name, byte[] bytes) throws IOException {
        Files.write(folder.resolve(name), bytes);
    }

    private static void copyReleased() throws IOException {
        clear();
        for (String name : RELEASED_FILES) {
            Files.copy(RELEASED.resolve(name), folder.resolve(name));
        }
    }

    private static void clear() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
    }
}

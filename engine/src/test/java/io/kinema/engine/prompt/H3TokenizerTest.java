package io.kinema.engine.prompt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.engine.golden.GoldenCase;
import io.kinema.weights.BadWeightsException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.lifecycle.AfterContainer;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class H3TokenizerTest {
    private static final Path NANO = GoldenCase.root().resolve("models/h3-nano/tokenizer");
    private static final Path TINY = GoldenCase.subset().resolve("checkpoint/tokenizer");

    @Test
    void tinyIdsAreTheReferences() {
        try (GoldenCase golden = GoldenCase.open("tokenizer/tiny"); H3Tokenizer tokenizer = H3Tokenizer.open(TINY)) {
            requireGoldenIds(golden, tokenizer);
        }
    }

    @Test
    void releasedIdsAreTheReferences() {
        Optional<GoldenCase> released = GoldenCase.openFull("tokenizer/released");
        Assumptions.assumeTrue(released.isPresent(), "the full goldens are not on this machine");
        try (GoldenCase golden = released.get(); H3Tokenizer tokenizer = H3Tokenizer.open(golden.folder().resolveSibling(""))) {
            requireGoldenIds(golden, tokenizer);
            assertThat(tokenizer.vision()).isEqualTo(new VisionTokens(151652, 151653, 151655, 151656));
        }
    }

    private static void requireGoldenIds(GoldenCase golden, H3Tokenizer tokenizer) {
        JsonNode prompts = golden.json().path("prompts");
        assertThat(prompts.size()).isGreaterThan(100);
        for (JsonNode prompt : prompts) {
            int[] ids = new int[prompt.path("ids").size()];
            for (int i = 0; i < ids.length; i++) {
                ids[i] = prompt.path("ids").get(i).asInt();
            }
            assertThat(tokenizer.encode(prompt.path("text").asText())).as("\"%s\"", prompt.path("text").asText()).containsExactly(ids);
        }
    }

    @Test
    void tokenizerJsonAndReleasedFilesAgree() {
        try (GoldenCase golden = GoldenCase.open("tokenizer/tiny"); H3Tokenizer ready = H3Tokenizer.open(NANO);
                H3Tokenizer made = H3Tokenizer.openReleasedFiles(NANO)) {
            assertThat(ready.vision()).isEqualTo(made.vision());
            for (JsonNode prompt : golden.json().path("prompts")) {
                String text = prompt.path("text").asText();
                assertThat(made.encode(text)).as("\"%s\"", text).containsExactly(ready.encode(text));
            }
        }
    }

    @Test
    void longTextIsNotCut() {
        try (H3Tokenizer tokenizer = H3Tokenizer.open(NANO)) {
            assertThat(tokenizer.encode("a ".repeat(20_000))).hasSizeGreaterThan(20_000);
        }
    }

    @Test
    void typedVisionTokensStayText() throws IOException {
        try (H3Tokenizer tokenizer = H3Tokenizer.open(TINY)) {
            VisionTokens vision = tokenizer.vision();
            String typed = "<|vision_start|><|image_pad|><|video_pad|><|vision_pad|><|vision_end|>";
            assertThat(tokenizer.encode(typed)).contains(vision.start(), vision.imagePad(), vision.videoPad(), vision.end());
            assertThat(tokenizer.encodePrompt(typed)).doesNotContain(vision.start(), vision.imagePad(), vision.videoPad(), vision.end());
        }
    }

    @Test
    void typedVisionTokensReadAsInATokenizerWithoutThem(@TempDir Path folder) throws IOException {
        for (String name : new String[] {"vocab.json", "merges.txt"}) {
            Files.copy(TINY.resolve(name), folder.resolve(name));
        }
        // The same tokenizer with its vision tokens renamed: what was one of them is now ordinary text.
        String config = Files.readString(TINY.resolve("tokenizer_config.json"));
        for (String token : new String[] {"vision_start", "vision_end", "vision_pad", "image_pad", "video_pad"}) {
            config = config.replace("<|" + token + "|>", "{{" + token + "}}");
        }
        Files.writeString(folder.resolve("tokenizer_config.json"), config);
        String json = new ReleasedTokenizerFiles(folder).read().document();
        try (H3Tokenizer tokenizer = H3Tokenizer.open(TINY); NativeTokenizer plain = NativeTokenizer.of(json)) {
            for (String text : new String[] {"<|image_pad|>", "a <|vision_start|>\n<|image_pad|> b", "e\u0301<|video_pad|>\u0301x",
                "<|<|vision_end|>|>", "<|vision_pad|><d>hi</d><|vision_pad|>", "<|IMAGE_PAD|>", "x<|image_pad|>1"}) {
                assertThat(tokenizer.encodePrompt(text)).as(text).containsExactly(plain.encode(text));
            }
        }
    }

    @Test
    void otherSpecialTokensReachTheModelAsInTheReference() {
        try (H3Tokenizer tokenizer = H3Tokenizer.open(TINY)) {
            for (String text : new String[] {"<d>Hello</d>", "A<|endoftext|>B", "<|cutoff|>", "[<|lyrics_start|>la<|lyrics_end|>]"}) {
                assertThat(tokenizer.encodePrompt(text)).as(text).containsExactly(tokenizer.encode(text));
            }
        }
    }

    private static H3Tokenizer shared;

    private static synchronized H3Tokenizer shared() {
        shared = shared == null ? H3Tokenizer.open(NANO) : shared;
        return shared;
    }

    @AfterContainer
    static void closeShared() {
        if (shared != null) {
            shared.close();
            shared = null;
        }
    }

    @Property(tries = 500)
    void anyTextTokenises(@ForAll String text) {
        for (int id : shared().encodePrompt(text)) {
            assertThat(id).isBetween(0, 100_000);
        }
        assertThat(shared().encode(text).length).isGreaterThanOrEqualTo(text.isEmpty() ? 0 : 1);
    }

    @Property(tries = 200)
    void textInLettersOfOneByteKeepsEveryByte(@ForAll @net.jqwik.api.constraints.CharRange(from = 'a', to = 'z') String text) {
        assertThat(shared().encode(text).length).isLessThanOrEqualTo(text.getBytes(StandardCharsets.UTF_8).length);
    }

    @Test
    void closedTokenizersSaySo() {
        H3Tokenizer tokenizer = H3Tokenizer.open(NANO);
        tokenizer.close();
        tokenizer.close();
        assertThatThrownBy(() -> tokenizer.encode("a")).isInstanceOf(IllegalStateException.class).hasMessageContaining("after close");
    }

    @Test
    void brokenFoldersAreRefusedInOneLine(@TempDir Path folder) throws IOException {
        requireRefused(folder.resolve("absent"), "missing tokenizer folder");
        requireRefused(folder, "tokenizer_config.json: missing");
        Files.copy(TINY.resolve("tokenizer_config.json"), folder.resolve("tokenizer_config.json"));
        requireRefused(folder, "vocab.json: missing");
        Files.writeString(folder.resolve("vocab.json"), "{\"a\": 0, \"b\":");

        requireRefused(folder, "vocab.json: not readable as JSON");
        Files.writeString(folder.resolve("vocab.json"), "{\"a\": 0}}, \"decoder\": {\"type\": \"b\"");
        requireRefused(folder, "vocab.json: expected one JSON object");
        Files.writeString(folder.resolve("vocab.json"), "{\"a\": 0, \"b\": \"c\"}");
        requireRefused(folder, "merges.txt: missing");
        Files.writeString(folder.resolve("merges.txt"), "#version: 0.2\n");
        requireRefused(folder, "token \"b\": got \"c\", expected an integer id");
        Files.writeString(folder.resolve("vocab.json"), "{\"a\": 0, \"b\": 1}");
        Files.writeString(folder.resolve("merges.txt"), "#version: 0.2\na b c\n");
        requireRefused(folder, "line 2: got \"a b c\", expected two pieces");
        Files.writeString(folder.resolve("merges.txt"), "#version: 0.2\na b\n");
        requireRefused(folder, "piece \"ab\" is not in vocab.json");
        Files.writeString(folder.resolve("vocab.json"), "{\"a\": 0, \"b\": 1, \"ab\": 2}");
        requireRefused(folder, "added token <|endoftext|>: got id 3, expected 640");
        Files.writeString(folder.resolve("tokenizer_config.json"), "[]");
        requireRefused(folder, "got ARRAY, expected a JSON object");
        Files.writeString(folder.resolve("tokenizer_config.json"), "{}");
        requireRefused(folder, "expected a filled added_tokens_decoder");
        Files.writeString(folder.resolve("tokenizer.json"), "{\"version\": \"1.0\", \"model\": {");
        requireRefused(folder, "tokenizer.json: not readable as JSON");
        Files.writeString(folder.resolve("tokenizer.json"), "{\"version\": \"1.0\"}");
        requireRefused(folder, "model/type: got , expected \"BPE\"; this is not H3's tokenizer");
    }

    private static void requireRefused(Path folder, String message) {
        assertThatThrownBy(() -> H3Tokenizer.open(folder)).isInstanceOf(BadWeightsException.class).hasMessageContaining(message)
                .satisfies(e -> assertThat(e.getMessage().lines()).hasSize(1));
    }
}

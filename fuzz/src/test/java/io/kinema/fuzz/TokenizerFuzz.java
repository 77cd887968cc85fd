package io.kinema.fuzz;

import io.kinema.engine.prompt.H3Tokenizer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.List;

/** A tokenizer folder, one of whose four files is the input and the others are good: it opens and encodes, or is refused. */
public final class TokenizerFuzz {
    private static final Scratch SCRATCH = new Scratch("tokenizer");
    private static final List<String> FILES = List.of("tokenizer_config.json", "vocab.json", "merges.txt", "tokenizer.json");
    private static final List<String> GOOD = List.of("""
            {"added_tokens_decoder": {"4": {"content": "<|vision_start|>", "special": true}, "5": {"content": "<|vision_end|>", "special": true},
             "6": {"content": "<|image_pad|>", "special": true}, "7": {"content": "<|video_pad|>", "special": true}},
             "additional_special_tokens": ["<d>"], "add_prefix_space": false}""",
            "{\"a\": 0, \"b\": 1, \"ab\": 2, \"Ġ\": 3}", "#version: 0.2\na b\n");

    private TokenizerFuzz() {
    }

    public static void fuzzerTestOneInput(byte[] data) {
        int which = data.length == 0 ? 0 : (data[0] & 0xff) % FILES.size();
        for (int i = 0; i < GOOD.size(); i++) {
            SCRATCH.write(FILES.get(i), GOOD.get(i).getBytes(StandardCharsets.UTF_8));
        }
        byte[] content = data.length == 0 ? data : Arrays.copyOfRange(data, 1, data.length);
        SCRATCH.write(FILES.get(which), content);
        try {
            Refusals.allow(() -> {
                try (H3Tokenizer tokenizer = H3Tokenizer.open(SCRATCH.folder())) {
                    tokenizer.encodePrompt("ab a <d>b</d> <|image_pad|> \ud83c");
                }
            });
        } finally {
            remove(FILES.getLast());
        }
    }

    private static void remove(String name) {
        try {
            Files.deleteIfExists(SCRATCH.folder().resolve(name));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

package io.kinema.engine.prompt;

import io.kinema.weights.BadWeightsException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.IntStream;

/**
 * Owns the text encoder's tokenizer (byte-level BPE of Qwen2, in native memory) until it is closed; closing twice is
 * harmless, use after close throws {@link IllegalStateException}. Safe for use by several threads.
 *
 * <p>It never adds tokens of its own: ids are {@code tokenizer(text, add_special_tokens=False)} of the reference.
 */
public final class H3Tokenizer implements AutoCloseable {
    private final NativeTokenizer tokenizer;
    private final VisionTokens vision;

    private H3Tokenizer(NativeTokenizer tokenizer, Path folder) {
        this.tokenizer = tokenizer;
        this.vision = new VisionTokens(idOf("<|vision_start|>", folder), idOf("<|vision_end|>", folder),
                idOf("<|image_pad|>", folder), idOf("<|video_pad|>", folder));
    }

    /**
     * Opens a tokenizer folder: {@code tokenizer.json} where there is one, else the released {@code vocab.json},
     * {@code merges.txt} and {@code tokenizer_config.json}.
     *
     * @throws BadWeightsException   when a file is missing, unreadable or does not hold a tokenizer with vision tokens
     * @throws IllegalStateException when the native library does not load on this machine
     */
    public static H3Tokenizer open(Path folder) {
        if (!Files.isDirectory(folder)) {
            throw new BadWeightsException(folder + ": missing tokenizer folder; expected vocab.json, merges.txt and tokenizer_config.json in it");
        }
        Path ready = folder.resolve("tokenizer.json");
        return Files.exists(ready) ? open(folder, new TokenizerJson(ready).read(), () -> { }) : openReleasedFiles(folder);
    }

    /** Opens the tokenizer that the three released files describe, also beside a {@code tokenizer.json}. */
    static H3Tokenizer openReleasedFiles(Path folder) {
        ReleasedTokenizerFiles files = new ReleasedTokenizerFiles(folder);
        return open(folder, files.read(), files::diagnose);
    }

    private static H3Tokenizer open(Path folder, TokenizerSource source, Runnable diagnose) {
        TokenizerLibrary.load();
        NativeTokenizer tokenizer;
        try {
            tokenizer = NativeTokenizer.of(source.document());
        } catch (RuntimeException e) {
            diagnose.run();
            throw new BadWeightsException(folder + ": not a tokenizer that can be read: " + TokenizerFolder.firstLine(e.getMessage()), e);
        }
        try {
            H3Tokenizer opened = new H3Tokenizer(tokenizer, folder);
            source.added().forEach(token -> opened.requireId(token, folder));
            return opened;
        } catch (RuntimeException e) {
            tokenizer.close();
            throw e;
        }
    }

    /**
     * Loads the native library, so that a later {@link #open} need not; meant for a background thread while weights are
     * mapped.
     *
     * @throws IllegalStateException when it does not load on this machine
     */
    public static void preload() {
        TokenizerLibrary.load();
    }

    /**
     * Token ids of {@code text}; text that spells an added token ({@code <d>}, {@code <|image_pad|>}, ...) becomes that token,
     * as in the reference. An unpaired surrogate counts as U+FFFD.
     */
    public int[] encode(String text) {
        return tokenizer.encode(wellFormed(text));
    }

    /**
     * Token ids of a text that a user typed: as {@link #encode}, except that the tokens which mark pictures and videos stay
     * plain text. Only the engine places those; typed ones would claim vision features that do not exist.
     */
    public int[] encodePrompt(String text) {
        return VisionTokens.cutApart(text).stream().flatMapToInt(piece -> IntStream.of(encode(piece))).toArray();
    }

    /** The ids that mark vision blocks. */
    public VisionTokens vision() {
        return vision;
    }

    @Override
    public void close() {
        tokenizer.close();
    }

    /** The native library numbers added tokens itself; a vocabulary with holes would shift them silently. */
    private void requireId(AddedToken token, Path folder) {
        int[] ids = encode(token.content());
        if (ids.length != 1 || ids[0] != token.id()) {
            throw new BadWeightsException(folder + ": added token " + token.content() + ": got id " + (ids.length == 1 ? ids[0] : "none")
                    + ", expected " + token.id() + "; the vocabulary and its added tokens do not belong together");
        }
    }

    private int idOf(String token, Path folder) {
        int[] ids = encode(token);
        if (ids.length != 1) {
            throw new BadWeightsException(folder + ": tokenizer: expected a token " + token + ", got none; this is not H3's tokenizer");
        }
        return ids[0];
    }

    /** Rust strings cannot hold half a surrogate pair. */
    private static String wellFormed(String text) {
        StringBuilder out = null;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (Character.isHighSurrogate(c) && i + 1 < text.length() && Character.isLowSurrogate(text.charAt(i + 1))) {
                i++;
            } else if (Character.isSurrogate(c)) {
                out = out == null ? new StringBuilder(text) : out;
                out.setCharAt(i, '\ufffd');
            }
        }
        return out == null ? text : out.toString();
    }
}

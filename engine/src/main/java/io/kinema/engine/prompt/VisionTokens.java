package io.kinema.engine.prompt;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The tokens that frame and fill the vision blocks of a presentation.
 *
 * @param start    in front of a block
 * @param end      behind a block
 * @param imagePad one for each merged patch of a picture
 * @param videoPad one for each merged patch of a video's frame pair
 */
public record VisionTokens(int start, int end, int imagePad, int videoPad) {
    /** Every vision token reads {@code <|word_word|>}; the split pattern parts it in front of its underscore. */
    private static final Pattern TYPED = Pattern.compile("<\\|(?:vision|image|video)(?=_(?:start|end|pad)\\|>)");

    /**
     * Cuts {@code text} inside every vision token it spells. Cuts lie where Qwen2's split pattern has a boundary anyway and
     * NFC joins nothing, so the pieces' ids in a row are those of the text in a tokenizer without vision tokens.
     */
    static List<String> cutApart(String text) {
        List<String> pieces = new ArrayList<>();
        Matcher typed = TYPED.matcher(text);
        int from = 0;
        while (typed.find()) {
            pieces.add(text.substring(from, typed.end()));
            from = typed.end();
        }
        pieces.add(text.substring(from));
        return pieces;
    }
}

package io.kinema.engine.prompt;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.TextNode;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;

/**
 * What makes one tokenizer of Qwen2's kind: byte-level BPE with NFC and Qwen2's split pattern.
 *
 * <p>The native library gets a document written here and never a file as it came: some errors in a document's frame end
 * the whole process there instead of being reported.
 *
 * @param added       added tokens in the order of their ids
 * @param vocabulary  UTF-8 JSON object, token to id, checked to be one whole flat object
 * @param merges      UTF-8 JSON array of merge rules
 * @param prefixSpace whether text gets a blank in front
 */
record TokenizerSource(List<AddedToken> added, byte[] vocabulary, byte[] merges, boolean prefixSpace) {
    /** The split pattern of Qwen2: contractions, words, single digits, punctuation, line ends, spaces. */
    static final String QWEN2_SPLIT = "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*"
            + "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
    /** Everything in front of the vocabulary; the holes are the added tokens, the split pattern and add_prefix_space twice. */
    private static final String HEAD = """
            {"version": "1.0", "truncation": null, "padding": null, "added_tokens": %s, "normalizer": {"type": "NFC"},
             "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
               {"type": "Split", "pattern": {"Regex": %s}, "behavior": "Isolated", "invert": false},
               {"type": "ByteLevel", "add_prefix_space": %s, "trim_offsets": false, "use_regex": false}]},
             "post_processor": null,
             "decoder": {"type": "ByteLevel", "add_prefix_space": %s, "trim_offsets": false, "use_regex": false},
             "model": {"type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null,
               "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false, "ignore_merges": false, "vocab": """;

    TokenizerSource {
        added = List.copyOf(added);
    }

    /** The content of a {@code tokenizer.json}. */
    String document() {
        ArrayNode tokens = JsonNodeFactory.instance.arrayNode();
        added.forEach(token -> tokens.add(token.json()));
        byte[] head = String.format(Locale.ROOT, HEAD, tokens, TextNode.valueOf(QWEN2_SPLIT), prefixSpace, prefixSpace).getBytes(StandardCharsets.UTF_8);
        ByteArrayOutputStream out = new ByteArrayOutputStream(head.length + vocabulary.length + merges.length + 16);
        out.writeBytes(head);
        out.writeBytes(vocabulary);
        out.writeBytes(", \"merges\": ".getBytes(StandardCharsets.UTF_8));
        out.writeBytes(merges);
        out.writeBytes("}}".getBytes(StandardCharsets.UTF_8));
        return out.toString(StandardCharsets.UTF_8);
    }
}

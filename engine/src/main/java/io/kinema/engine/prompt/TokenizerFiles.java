package io.kinema.engine.prompt;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.TextNode;
import io.kinema.weights.BadWeightsException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Writes the {@code tokenizer.json} that the released tokenizer folder lacks, from its {@code vocab.json},
 * {@code merges.txt} and {@code tokenizer_config.json}: the byte-level BPE of Qwen2 with NFC, Qwen2's split pattern and the
 * added tokens in the order of their ids. {@code additional_special_tokens} that {@code added_tokens_decoder} lacks get the
 * ids after the last one, in the order of the list.
 *
 * <p>The two large files are copied as bytes (150,000 entries each would cost a cold virtual machine seconds to parse);
 * {@link #diagnose} reads them properly when the native library refuses the result.
 */
final class TokenizerFiles {
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
    private static final long LARGEST_FILE = 64L << 20;

    private final Path ready;
    private final Path config;
    private final Path vocabulary;
    private final Path merges;

    TokenizerFiles(Path folder) {
        this.ready = folder.resolve("tokenizer.json");
        this.config = folder.resolve("tokenizer_config.json");
        this.vocabulary = folder.resolve("vocab.json");
        this.merges = folder.resolve("merges.txt");
    }

    /** True when the folder brings its own {@code tokenizer.json}. */
    boolean ready() {
        return Files.exists(ready);
    }

    /** The content of the folder's own {@code tokenizer.json}. */
    byte[] tokenizerJson() {
        return read(ready);
    }

    /** The content made from the three released files, whether or not {@code tokenizer.json} exists. */
    byte[] written() {
        JsonNode settings = tree(config);
        ArrayNode added = JsonNodeFactory.instance.arrayNode();
        addedTokens().forEach(token -> added.add(token.json()));
        boolean prefix = settings.path("add_prefix_space").asBoolean(false);
        byte[] head = HEAD.formatted(added, TextNode.valueOf(QWEN2_SPLIT), prefix, prefix).getBytes(StandardCharsets.UTF_8);
        byte[] entries = read(vocabulary);
        byte[] pairs = read(merges);
        ByteArrayOutputStream out = new ByteArrayOutputStream(head.length + entries.length + pairs.length * 3 / 2 + 64);
        out.writeBytes(head);
        out.writeBytes(entries);
        out.writeBytes(", \"merges\": [".getBytes(StandardCharsets.UTF_8));
        writeMerges(pairs, out);
        out.writeBytes("]}}".getBytes(StandardCharsets.UTF_8));
        return out.toByteArray();
    }

    /** Every line but the version as a JSON string; the two characters that JSON escapes are bytes of their own in UTF-8. */
    private static void writeMerges(byte[] lines, ByteArrayOutputStream out) {
        int from = startsWithVersion(lines) ? afterLine(lines, 0) : 0;
        boolean first = true;
        while (from < lines.length) {
            int next = afterLine(lines, from);
            int end = next;
            while (end > from && (lines[end - 1] == '\n' || lines[end - 1] == '\r')) {
                end--;
            }
            if (end > from) {
                if (!first) {
                    out.write(',');
                }
                writeString(lines, from, end, out);
                first = false;
            }
            from = next;
        }
    }

    private static void writeString(byte[] text, int from, int to, ByteArrayOutputStream out) {
        out.write('"');
        for (int i = from; i < to; i++) {
            if (text[i] == '"' || text[i] == '\\') {
                out.write('\\');
            }
            out.write(text[i]);
        }
        out.write('"');
    }

    private static boolean startsWithVersion(byte[] lines) {
        byte[] mark = "#version".getBytes(StandardCharsets.UTF_8);
        return lines.length >= mark.length && java.util.Arrays.equals(lines, 0, mark.length, mark, 0, mark.length);
    }

    private static int afterLine(byte[] lines, int from) {
        int i = from;
        while (i < lines.length && lines[i] != '\n') {
            i++;
        }
        return Math.min(i + 1, lines.length);
    }

    /** All added tokens in the order of their ids. */
    List<AddedToken> addedTokens() {
        JsonNode settings = tree(config);
        TreeMap<Integer, AddedToken> byId = new TreeMap<>();
        for (Map.Entry<String, JsonNode> entry : settings.path("added_tokens_decoder").properties()) {
            int id = parseId(entry.getKey());
            byId.put(id, AddedToken.read(id, entry.getValue(), config));
        }
        require(!byId.isEmpty(), config, "expected a filled added_tokens_decoder");
        List<AddedToken> tokens = new ArrayList<>(byId.values());
        Set<String> known = new HashSet<>();
        tokens.forEach(t -> known.add(t.content()));
        int next = byId.lastKey() + 1;
        for (JsonNode extra : settings.path("additional_special_tokens")) {
            String content = extra.isTextual() ? extra.textValue() : extra.path("content").asText();
            if (!content.isEmpty() && known.add(content)) {
                tokens.add(AddedToken.special(next++, content));
            }
        }
        return tokens;
    }

    private int parseId(String text) {
        try {
            return Integer.parseInt(text);
        } catch (NumberFormatException e) {
            throw new BadWeightsException(config + ": added_tokens_decoder: got key \"" + text + "\", expected a token id");
        }
    }

    /** Says what is wrong with the large files. @throws BadWeightsException when it finds something */
    void diagnose() {
        if (ready()) {
            tree(ready);
            return;
        }
        JsonNode ids = tree(vocabulary);
        for (Map.Entry<String, JsonNode> entry : ids.properties()) {
            require(entry.getValue().isIntegralNumber(), vocabulary, "token \"" + entry.getKey() + "\": got " + entry.getValue()
                    + ", expected an integer id");
        }
        int number = 0;
        for (String line : new String(read(merges), StandardCharsets.UTF_8).lines().toList()) {
            number++;
            if (line.isEmpty() || number == 1 && line.startsWith("#version")) {
                continue;
            }
            String[] pair = line.split(" ", -1);
            require(pair.length == 2 && !pair[0].isEmpty() && !pair[1].isEmpty(), merges,
                    "line " + number + ": got \"" + line + "\", expected two pieces");
            for (String piece : new String[] {pair[0], pair[1], pair[0] + pair[1]}) {
                require(ids.has(piece), merges, "line " + number + ": piece \"" + piece + "\" is not in vocab.json");
            }
        }
    }

    private static JsonNode tree(Path file) {
        try {
            JsonNode node = new ObjectMapper().readTree(read(file));
            require(node.isObject(), file, "got " + node.getNodeType() + ", expected a JSON object");
            return node;
        } catch (JacksonException e) {
            throw new BadWeightsException(file + ": not readable as JSON: " + e.getOriginalMessage(), e);
        } catch (IOException e) {
            throw new BadWeightsException(file + ": not readable: " + e.getMessage(), e);
        }
    }

    private static byte[] read(Path file) {
        try {
            long size = Files.size(file);
            require(size <= LARGEST_FILE, file, "got " + size + " bytes, expected at most " + LARGEST_FILE);
            return Files.readAllBytes(file);
        } catch (NoSuchFileException e) {
            throw new BadWeightsException(file + ": missing; a tokenizer folder holds vocab.json, merges.txt and tokenizer_config.json", e);
        } catch (IOException e) {
            throw new BadWeightsException(file + ": not readable: " + e.getMessage(), e);
        }
    }

    private static void require(boolean holds, Path file, String message) {
        if (!holds) {
            throw new BadWeightsException(file + ": " + message);
        }
    }
}

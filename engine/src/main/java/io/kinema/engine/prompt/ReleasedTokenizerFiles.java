package io.kinema.engine.prompt;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.weights.BadWeightsException;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Reads the released layout: {@code vocab.json}, {@code merges.txt} and {@code tokenizer_config.json}.
 * {@code additional_special_tokens} that {@code added_tokens_decoder} lacks get the ids after the last one, in the order of
 * the list.
 *
 * <p>The two large files are scanned and copied as bytes: 150,000 entries each would cost a cold virtual machine seconds to
 * parse. {@link #diagnose} reads them properly when the native library refuses the result.
 */
final class ReleasedTokenizerFiles {
    private final Path config;
    private final Path vocabulary;
    private final Path merges;

    ReleasedTokenizerFiles(Path folder) {
        this.config = folder.resolve("tokenizer_config.json");
        this.vocabulary = folder.resolve("vocab.json");
        this.merges = folder.resolve("merges.txt");
    }

    /** @throws BadWeightsException when a file is missing or its outline is wrong */
    TokenizerSource read() {
        JsonNode settings = TokenizerFolder.object(config);
        List<AddedToken> added = addedTokens(settings);
        byte[] entries = TokenizerFolder.read(vocabulary);
        if (!oneFlatObject(entries)) {
            TokenizerFolder.object(vocabulary);
            throw new BadWeightsException(vocabulary + ": expected one JSON object of token: id");
        }
        return new TokenizerSource(added, entries, mergeRules(TokenizerFolder.read(merges)), settings.path("add_prefix_space").asBoolean(false));
    }

    /** True for one JSON object without inner objects or arrays, white space around it allowed: nothing can follow it unseen. */
    private static boolean oneFlatObject(byte[] json) {
        int at = afterBlanks(json, 0);
        if (at == json.length || json[at] != '{') {
            return false;
        }
        boolean text = false;
        for (at++; at < json.length; at++) {
            byte b = json[at];
            if (text) {
                if (b == '\\') {
                    at++;
                } else if (b == '"') {
                    text = false;
                }
            } else if (b == '"') {
                text = true;
            } else if (b == '}') {
                return afterBlanks(json, at + 1) == json.length;
            } else if (b == '{' || b == '[' || b == ']') {
                return false;
            }
        }
        return false;
    }

    private static int afterBlanks(byte[] json, int from) {
        int at = from;
        while (at < json.length && (json[at] == ' ' || json[at] == '\n' || json[at] == '\r' || json[at] == '\t')) {
            at++;
        }
        return at;
    }

    /** Every line but the version as a JSON string; the two characters that JSON escapes are bytes of their own in UTF-8. */
    private static byte[] mergeRules(byte[] lines) {
        ByteArrayOutputStream out = new ByteArrayOutputStream(lines.length * 3 / 2 + 2);
        out.write('[');
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
        out.write(']');
        return out.toByteArray();
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
        return lines.length >= mark.length && Arrays.equals(lines, 0, mark.length, mark, 0, mark.length);
    }

    private static int afterLine(byte[] lines, int from) {
        int i = from;
        while (i < lines.length && lines[i] != '\n') {
            i++;
        }
        return Math.min(i + 1, lines.length);
    }

    private List<AddedToken> addedTokens(JsonNode settings) {
        TreeMap<Integer, AddedToken> byId = new TreeMap<>();
        for (Map.Entry<String, JsonNode> entry : settings.path("added_tokens_decoder").properties()) {
            int id = parseId(entry.getKey());
            byId.put(id, AddedToken.read(id, entry.getValue(), config));
        }
        TokenizerFolder.require(!byId.isEmpty(), config, "expected a filled added_tokens_decoder");
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
            throw new BadWeightsException(config + ": added_tokens_decoder: got key \"" + text + "\", expected a token id", e);
        }
    }

    /** Says what is wrong with the large files. @throws BadWeightsException when it finds something */
    void diagnose() {
        JsonNode ids = TokenizerFolder.object(vocabulary);
        for (Map.Entry<String, JsonNode> entry : ids.properties()) {
            TokenizerFolder.require(entry.getValue().isIntegralNumber(), vocabulary,
                    "token \"" + entry.getKey() + "\": got " + entry.getValue() + ", expected an integer id");
        }
        int number = 0;
        for (String line : new String(TokenizerFolder.read(merges), StandardCharsets.UTF_8).lines().toList()) {
            number++;
            if (!line.isEmpty() && !(number == 1 && line.startsWith("#version"))) {
                requireRule(line, number, ids);
            }
        }
    }

    private void requireRule(String line, int number, JsonNode ids) {
        String[] pair = line.split(" ", -1);
        TokenizerFolder.require(pair.length == 2 && !pair[0].isEmpty() && !pair[1].isEmpty(), merges,
                "line " + number + ": got \"" + line + "\", expected two pieces");
        for (String piece : new String[] {pair[0], pair[1], pair[0] + pair[1]}) {
            TokenizerFolder.require(ids.has(piece), merges, "line " + number + ": piece \"" + piece + "\" is not in vocab.json");
        }
    }
}

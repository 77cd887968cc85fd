package io.kinema.engine.prompt;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kinema.weights.BadWeightsException;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
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
 * added tokens, each in the order of its id. {@code additional_special_tokens} that {@code added_tokens_decoder} lacks get
 * the ids after the last one, in the order of the list.
 */
final class TokenizerFiles {
    /** The split pattern of Qwen2: contractions, words, single digits, punctuation, line ends, spaces. */
    static final String QWEN2_SPLIT = "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*"
            + "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
    private static final long LARGEST_FILE = 64L << 20;
    private static final JsonFactory JSON = new JsonFactory();

    private final Path folder;

    TokenizerFiles(Path folder) {
        this.folder = folder;
    }

    /** The content of {@code tokenizer.json}: the file where there is one, else written here. */
    byte[] tokenizerJson() {
        Path ready = folder.resolve("tokenizer.json");
        return Files.exists(ready) ? read(ready) : written();
    }

    /** The content made from the three released files, whether or not {@code tokenizer.json} exists. */
    byte[] written() {
        ByteArrayOutputStream out = new ByteArrayOutputStream(1 << 20);
        try (JsonGenerator json = JSON.createGenerator(out)) {
            write(json, addedTokens());
        } catch (IOException e) {
            throw new BadWeightsException(folder + ": tokenizer files are not readable: " + e.getMessage());
        }
        return out.toByteArray();
    }

    private void write(JsonGenerator json, List<AddedToken> added) throws IOException {
        json.writeStartObject();
        json.writeStringField("version", "1.0");
        json.writeNullField("truncation");
        json.writeNullField("padding");
        json.writeArrayFieldStart("added_tokens");
        for (AddedToken token : added) {
            token.write(json);
        }
        json.writeEndArray();
        json.writeObjectFieldStart("normalizer");
        json.writeStringField("type", "NFC");
        json.writeEndObject();
        writeSplit(json);
        json.writeNullField("post_processor");
        json.writeObjectFieldStart("decoder");
        writeByteLevel(json);
        json.writeEndObject();
        writeModel(json);
        json.writeEndObject();
    }

    private static void writeSplit(JsonGenerator json) throws IOException {
        json.writeObjectFieldStart("pre_tokenizer");
        json.writeStringField("type", "Sequence");
        json.writeArrayFieldStart("pretokenizers");
        json.writeStartObject();
        json.writeStringField("type", "Split");
        json.writeObjectFieldStart("pattern");
        json.writeStringField("Regex", QWEN2_SPLIT);
        json.writeEndObject();
        json.writeStringField("behavior", "Isolated");
        json.writeBooleanField("invert", false);
        json.writeEndObject();
        json.writeStartObject();
        writeByteLevel(json);
        json.writeEndObject();
        json.writeEndArray();
        json.writeEndObject();
    }

    private static void writeByteLevel(JsonGenerator json) throws IOException {
        json.writeStringField("type", "ByteLevel");
        json.writeBooleanField("add_prefix_space", false);
        json.writeBooleanField("trim_offsets", false);
        json.writeBooleanField("use_regex", false);
    }

    private void writeModel(JsonGenerator json) throws IOException {
        json.writeObjectFieldStart("model");
        json.writeStringField("type", "BPE");
        for (String absent : List.of("dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix")) {
            json.writeNullField(absent);
        }
        for (String off : List.of("fuse_unk", "byte_fallback", "ignore_merges")) {
            json.writeBooleanField(off, false);
        }
        writeVocabulary(json);
        writeMerges(json);
        json.writeEndObject();
    }

    /** Copies vocab.json token by token: 150,000 entries need no tree. */
    private void writeVocabulary(JsonGenerator json) throws IOException {
        Path file = folder.resolve("vocab.json");
        byte[] content = read(file);
        json.writeObjectFieldStart("vocab");
        try (JsonParser in = JSON.createParser(content)) {
            require(in.nextToken() == JsonToken.START_OBJECT, file, "expected an object of token: id");
            while (in.nextToken() == JsonToken.FIELD_NAME) {
                String token = in.currentName();
                require(in.nextToken() == JsonToken.VALUE_NUMBER_INT, file, "token \"" + token + "\": expected an integer id");
                json.writeNumberField(token, in.getIntValue());
            }
            require(in.currentToken() == JsonToken.END_OBJECT, file, "expected the end of the object");
        } catch (com.fasterxml.jackson.core.JsonProcessingException e) {
            throw new BadWeightsException(file + ": not readable as JSON: " + e.getOriginalMessage());
        }
        json.writeEndObject();
    }

    private void writeMerges(JsonGenerator json) throws IOException {
        Path file = folder.resolve("merges.txt");
        json.writeArrayFieldStart("merges");
        try (BufferedReader in = new BufferedReader(new java.io.StringReader(new String(read(file), StandardCharsets.UTF_8)))) {
            int number = 0;
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                number++;
                if (line.isEmpty() || number == 1 && line.startsWith("#version")) {
                    continue;
                }
                int space = line.indexOf(' ');
                require(space > 0 && space == line.lastIndexOf(' ') && space < line.length() - 1, file,
                        "line " + number + ": got \"" + line + "\", expected two pieces");
                json.writeStartArray();
                json.writeString(line.substring(0, space));
                json.writeString(line.substring(space + 1));
                json.writeEndArray();
            }
        }
        json.writeEndArray();
    }

    /** All added tokens in the order of their ids. */
    List<AddedToken> addedTokens() {
        Path file = folder.resolve("tokenizer_config.json");
        JsonNode config;
        try {
            config = new ObjectMapper().readTree(read(file));
        } catch (IOException e) {
            throw new BadWeightsException(file + ": not readable as JSON");
        }
        TreeMap<Integer, AddedToken> byId = new TreeMap<>();
        for (Map.Entry<String, JsonNode> entry : config.path("added_tokens_decoder").properties()) {
            int id = parseId(entry.getKey(), file);
            byId.put(id, AddedToken.read(id, entry.getValue(), file));
        }
        require(!byId.isEmpty(), file, "expected a filled added_tokens_decoder");
        List<AddedToken> tokens = new ArrayList<>(byId.values());
        Set<String> known = new HashSet<>();
        tokens.forEach(t -> known.add(t.content()));
        int next = byId.lastKey() + 1;
        for (JsonNode extra : config.path("additional_special_tokens")) {
            String content = extra.isTextual() ? extra.textValue() : extra.path("content").asText();
            if (!content.isEmpty() && known.add(content)) {
                tokens.add(AddedToken.special(next++, content));
            }
        }
        return tokens;
    }

    private static int parseId(String text, Path file) {
        try {
            return Integer.parseInt(text);
        } catch (NumberFormatException e) {
            throw new BadWeightsException(file + ": added_tokens_decoder: got key \"" + text + "\", expected a token id");
        }
    }

    private static byte[] read(Path file) {
        try {
            long size = Files.size(file);
            require(size <= LARGEST_FILE, file, "got " + size + " bytes, expected at most " + LARGEST_FILE);
            return Files.readAllBytes(file);
        } catch (java.nio.file.NoSuchFileException e) {
            throw new BadWeightsException(file + ": missing; a tokenizer folder holds vocab.json, merges.txt and tokenizer_config.json");
        } catch (IOException e) {
            throw new BadWeightsException(file + ": not readable: " + e.getMessage());
        }
    }

    private static void require(boolean holds, Path file, String message) {
        if (!holds) {
            throw new BadWeightsException(file + ": " + message);
        }
    }
}

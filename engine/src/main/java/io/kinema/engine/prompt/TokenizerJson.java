package io.kinema.engine.prompt;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.weights.BadWeightsException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/** Reads a {@code tokenizer.json} that Hugging Face's tokenizers wrote, and refuses any that is not of Qwen2's kind. */
final class TokenizerJson {
    private final Path file;

    TokenizerJson(Path file) {
        this.file = file;
    }

    /** @throws BadWeightsException when the file is not a tokenizer of Qwen2's kind, naming what differs */
    TokenizerSource read() {
        JsonNode root = TokenizerFolder.object(file);
        requireKind(root);
        boolean prefixSpace = root.at("/pre_tokenizer/pretokenizers/1/add_prefix_space").asBoolean(false);
        JsonNode vocabulary = root.at("/model/vocab");
        JsonNode merges = root.at("/model/merges");
        requireVocabulary(vocabulary);
        requireMerges(merges);
        return new TokenizerSource(addedTokens(root.path("added_tokens")), utf8(vocabulary), utf8(merges), prefixSpace);
    }

    private void requireKind(JsonNode root) {
        requireText(root, "/model/type", "BPE");
        requireText(root, "/normalizer/type", "NFC");
        requireText(root, "/pre_tokenizer/pretokenizers/0/pattern/Regex", TokenizerSource.QWEN2_SPLIT);
        requireText(root, "/pre_tokenizer/pretokenizers/0/behavior", "Isolated");
        requireText(root, "/pre_tokenizer/pretokenizers/1/type", "ByteLevel");
        for (String feature : List.of("/model/byte_fallback", "/model/ignore_merges", "/model/fuse_unk",
                "/pre_tokenizer/pretokenizers/0/invert", "/pre_tokenizer/pretokenizers/1/use_regex")) {
            TokenizerFolder.require(!root.at(feature).asBoolean(false), file, feature.substring(1) + ": got true, expected false");
        }
        for (String feature : List.of("/model/dropout", "/model/unk_token", "/model/continuing_subword_prefix", "/model/end_of_word_suffix")) {
            JsonNode value = root.at(feature);
            TokenizerFolder.require(value.isMissingNode() || value.isNull() || value.isTextual() && value.textValue().isEmpty(), file,
                    feature.substring(1) + ": got " + value + ", expected null");
        }
    }

    private void requireText(JsonNode root, String pointer, String expected) {
        TokenizerFolder.require(root.at(pointer).asText().equals(expected), file, pointer.substring(1) + ": got "
                + root.at(pointer) + ", expected \"" + expected + "\"; this is not H3's tokenizer");
    }

    private void requireVocabulary(JsonNode vocabulary) {
        TokenizerFolder.require(vocabulary.isObject() && !vocabulary.isEmpty(), file, "model/vocab: expected an object of token: id");
        for (Map.Entry<String, JsonNode> entry : vocabulary.properties()) {
            TokenizerFolder.require(entry.getValue().canConvertToInt() && entry.getValue().intValue() >= 0, file,
                    "model/vocab: token \"" + entry.getKey() + "\": got " + entry.getValue() + ", expected an integer id");
        }
    }

    private void requireMerges(JsonNode merges) {
        TokenizerFolder.require(merges.isArray(), file, "model/merges: expected a list");
        for (JsonNode rule : merges) {
            boolean pair = rule.isArray() && rule.size() == 2 && rule.get(0).isTextual() && rule.get(1).isTextual();
            TokenizerFolder.require(pair || rule.isTextual(), file, "model/merges: got " + rule + ", expected two pieces");
        }
    }

    private List<AddedToken> addedTokens(JsonNode list) {
        List<AddedToken> tokens = new ArrayList<>();
        for (JsonNode token : list) {
            JsonNode id = token.path("id");
            TokenizerFolder.require(id.canConvertToInt() && id.isIntegralNumber(), file, "added_tokens: got id " + id + ", expected an integer");
            tokens.add(AddedToken.read(id.intValue(), token, file));
        }
        TokenizerFolder.require(!tokens.isEmpty(), file, "added_tokens: expected a filled list");
        tokens.sort(Comparator.comparingInt(AddedToken::id));
        return tokens;
    }

    private static byte[] utf8(JsonNode node) {
        return node.toString().getBytes(StandardCharsets.UTF_8);
    }
}

package io.kinema.engine.prompt;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.weights.BadWeightsException;
import java.nio.file.Path;

/**
 * A token that text is cut at before BPE sees it.
 *
 * @param id         its id
 * @param content    its text
 * @param special    left out when ids are turned back into plain text
 * @param normalized matched after NFC instead of before
 * @param lstrip     takes the white space in front of it
 * @param rstrip     takes the white space behind it
 * @param singleWord matched only as a whole word
 */
record AddedToken(int id, String content, boolean special, boolean normalized, boolean lstrip, boolean rstrip, boolean singleWord) {
    static AddedToken special(int id, String content) {
        return new AddedToken(id, content, true, false, false, false, false);
    }

    static AddedToken read(int id, JsonNode node, Path file) {
        String content = node.path("content").asText();
        if (content.isEmpty()) {
            throw new BadWeightsException(file + ": added token " + id + ": got no content, expected its text");
        }
        return new AddedToken(id, content, node.path("special").asBoolean(), node.path("normalized").asBoolean(),
                node.path("lstrip").asBoolean(), node.path("rstrip").asBoolean(), node.path("single_word").asBoolean());
    }

    /** The token as an entry of {@code tokenizer.json}. */
    ObjectNode json() {
        return JsonNodeFactory.instance.objectNode().put("id", id).put("content", content).put("single_word", singleWord)
                .put("lstrip", lstrip).put("rstrip", rstrip).put("normalized", normalized).put("special", special);
    }
}

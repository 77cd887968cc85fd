package io.kinema.engine.verify;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import io.kinema.engine.prompt.H3Tokenizer;
import java.util.Map;

/** Token ids of texts; the case lists them under {@code prompts}. */
final class TokenizerOperations implements Operations {
    @Override
    public Map<String, Operation> byName() {
        return Map.of("encode_texts", TokenizerOperations::encode);
    }

    /** {@code value} only points to the list. */
    @Override
    public JsonNode expectedValue(CaseFile file, CaseFile.Check check) {
        return file.root().path("prompts");
    }

    private static Answer encode(Question q) {
        JsonNode prompts = q.file().root().path("prompts");
        if (!prompts.isArray() || prompts.isEmpty()) {
            throw q.bad("prompts", prompts, "expected a list of texts with their ids");
        }
        ArrayNode answers = Answer.JSON.arrayNode();
        try (H3Tokenizer tokenizer = H3Tokenizer.open(q.weights())) {
            for (JsonNode prompt : prompts) {
                String text = prompt.path("text").asText();
                ArrayNode ids = answers.addObject().put("text", text).putArray("ids");
                for (int id : tokenizer.encode(text)) {
                    ids.add(id);
                }
            }
        }
        return Answer.of(answers);
    }
}

package io.kinema.engine.verify;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Optional;
import java.util.SequencedMap;

/**
 * What the engine computed for one check.
 *
 * @param outputs tensors by name, in the order of the case's list where it has one
 * @param value   plain values, where the operation has any
 */
record Answer(SequencedMap<String, Values> outputs, Optional<JsonNode> value) {
    static final JsonNodeFactory JSON = JsonNodeFactory.instance;

    Answer {
        outputs = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(outputs));
    }

    static Answer of(Values only) {
        return new Builder().put("", only).build();
    }

    static Answer of(JsonNode value) {
        return new Answer(new LinkedHashMap<>(), Optional.of(value));
    }

    /** The result an expectation means: by name, by position in a list, or the only one. */
    Optional<Values> find(String name) {
        if (outputs.containsKey(name)) {
            return Optional.of(outputs.get(name));
        }
        if (name.isEmpty() && outputs.size() == 1) {
            return Optional.of(outputs.firstEntry().getValue());
        }
        if (!name.isEmpty() && name.chars().allMatch(Character::isDigit) && name.length() < 6) {
            return outputs.sequencedValues().stream().skip(Integer.parseInt(name)).findFirst();
        }
        return Optional.empty();
    }

    /** Collects an answer. */
    static final class Builder {
        private final SequencedMap<String, Values> outputs = new LinkedHashMap<>();
        private ObjectNode value = null;

        Builder put(String name, Values values) {
            outputs.put(name, values);
            return this;
        }

        /** The object of plain values, made when first asked for. */
        ObjectNode value() {
            if (value == null) {
                value = JSON.objectNode();
            }
            return value;
        }

        Answer build() {
            return new Answer(outputs, Optional.ofNullable(value));
        }
    }
}

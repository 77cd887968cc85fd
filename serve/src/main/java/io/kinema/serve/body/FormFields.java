package io.kinema.serve.body;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.serve.problem.Problem;
import io.kinema.serve.problem.ProblemKind;
import java.util.function.Function;

/** Collects the fields of a form into the tree that the same request would be as JSON. */
final class FormFields {
    private final ObjectNode fields = JsonNodeFactory.instance.objectNode();
    private final Function<String, FieldKind> kinds;
    private final BodyLimits limits;
    private int texts;
    private int files;

    FormFields(Function<String, FieldKind> kinds, BodyLimits limits) {
        this.kinds = kinds;
        this.limits = limits;
    }

    /** Refuses a file that would be one too many, or in a field that takes none. */
    void expectFile(String name) {
        if (kinds.apply(plain(name)) != FieldKind.MEDIA) {
            throw Problem.invalid(Problem.printable(name, 60), "a file", "expected files in the reference fields only, such as input_reference");
        }
        if (++files > limits.files()) {
            throw Problem.sentence(ProblemKind.INVALID, "references", "references: got more than " + limits.files() + " files, expected at most that many");
        }
    }

    void add(String name, Upload upload) {
        append(plain(name), JsonNodeFactory.instance.pojoNode(upload));
    }

    void add(String name, String text) {
        if (++texts > limits.fields()) {
            throw Problem.of(ProblemKind.MALFORMED, "body: got more than " + limits.fields() + " fields, expected at most that many");
        }
        String key = plain(name);
        JsonNode value = value(kinds.apply(key), key, text);
        if (kinds.apply(key) == FieldKind.MEDIA) {
            append(key, value);
        } else if (fields.has(key)) {
            throw Problem.field(ProblemKind.MALFORMED, Problem.printable(key, 60), "it twice", "expected it once");
        } else {
            fields.set(key, value);
        }
    }

    ObjectNode tree() {
        return fields;
    }

    private void append(String key, JsonNode value) {
        ArrayNode list = fields.has(key) ? (ArrayNode) fields.get(key) : fields.putArray(key);
        if (value.isArray()) {
            list.addAll((ArrayNode) value);
        } else {
            list.add(value);
        }
    }

    private static JsonNode value(FieldKind kind, String key, String text) {
        String start = text.stripLeading();
        boolean whole = start.startsWith("{") || start.startsWith("[");
        return switch (kind) {
            case TEXT, UNKNOWN -> JsonNodeFactory.instance.textNode(text);
            case MEDIA -> whole ? StrictJson.value(text, key) : JsonNodeFactory.instance.textNode(text);
            case VALUE -> whole ? StrictJson.value(text, key) : StrictJson.scalar(text);
        };
    }

    /** {@code input_reference[]}, as some clients write a repeated field. */
    private static String plain(String name) {
        return name.endsWith("[]") ? name.substring(0, name.length() - 2) : name;
    }
}

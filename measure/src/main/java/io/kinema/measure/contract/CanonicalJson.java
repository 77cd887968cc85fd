package io.kinema.measure.contract;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.TreeMap;

/** JSON as one text whatever the order of its fields, so that it can be hashed. */
public final class CanonicalJson {
    private static final ObjectMapper JSON = new ObjectMapper();

    private CanonicalJson() {
    }

    /** Without blanks, fields in the order of their names. */
    public static String text(JsonNode node) {
        try {
            return JSON.writeValueAsString(sorted(node));
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a JSON tree always has a text", e);
        }
    }

    /** Hex SHA-256 of {@link #text}. */
    public static String sha256(JsonNode node) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(text(node).getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    private static JsonNode sorted(JsonNode node) {
        if (node.isObject()) {
            TreeMap<String, JsonNode> fields = new TreeMap<>();
            node.properties().forEach(field -> fields.put(field.getKey(), sorted(field.getValue())));
            ObjectNode ordered = JsonNodeFactory.instance.objectNode();
            fields.forEach(ordered::set);
            return ordered;
        }
        if (node.isArray()) {
            ArrayNode ordered = JsonNodeFactory.instance.arrayNode();
            node.forEach(element -> ordered.add(sorted(element)));
            return ordered;
        }
        return node;
    }
}

package io.kinema.weights.prepared;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.weights.BadWeightsException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What an entry was made of: any difference, in an option or in a file, is another key and so another entry.
 *
 * @param label what the weights are, for a person: {@code transformer}
 * @param text  everything that decides the entry's bytes, as JSON
 * @param id    hex SHA-256 of {@code text}, the entry's name
 */
public record PreparedKey(String label, String text, String id) {
    /**
     * @param facts what decides how the weights are prepared: options, configs, version
     * @param files every file they are made from; read at their beginning
     * @throws IOException when one of them cannot be read
     */
    public static PreparedKey of(String label, Map<String, String> facts, Collection<Path> files) throws IOException {
        ObjectNode key = JsonNodeFactory.instance.objectNode().put("format", PreparedManifest.FORMAT).put("label", label);
        ObjectNode options = key.putObject("facts");
        new TreeMap<>(facts).forEach(options::put);
        ArrayNode sources = key.putArray("files");
        for (Path file : files.stream().distinct().sorted().toList()) {
            SourceFile source = SourceFile.of(file);
            sources.addObject().put("path", source.path().toString()).put("head", source.head()).setAll(source.stat().json());
        }
        String text = key.toString();
        return new PreparedKey(label, text, Sha256.hex(text.getBytes(StandardCharsets.UTF_8)));
    }

    /** The label in a key's text; empty when the text is no key's. */
    static Optional<String> label(String text) {
        try {
            return Optional.ofNullable(PreparedManifest.read(text.getBytes(StandardCharsets.UTF_8)).path("label").textValue());
        } catch (BadWeightsException e) {
            return Optional.empty();
        }
    }
}

package io.kinema.engine.model;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kinema.weights.BadWeightsException;
import io.kinema.weights.PlainFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Reads the small JSON files of a model folder. */
public final class Json {
    private static final long MAX_BYTES = 16L << 20;
    private static final ObjectMapper MAPPER = new ObjectMapper(JsonFactory.builder()
            .streamReadConstraints(StreamReadConstraints.builder().maxNestingDepth(64).build()).build());

    private Json() {
    }

    /** The object in this file. @throws BadWeightsException when it is not one, or larger than 16 MiB */
    public static JsonNode object(Path file) {
        try {
            long bytes = Files.size(PlainFile.require(file));
            if (bytes > MAX_BYTES) {
                throw new BadWeightsException(file + ": got " + bytes + " bytes, expected a config of at most " + MAX_BYTES);
            }
            JsonNode node = MAPPER.readTree(file.toFile());
            if (!node.isObject()) {
                throw new BadWeightsException(file + ": got " + node.getNodeType() + ", expected a JSON object; restore the file");
            }
            return node;
        } catch (JacksonException e) {
            throw new BadWeightsException(file + ": not readable as JSON (" + e.getOriginalMessage() + "); restore the file", e);
        } catch (IOException e) {
            throw new BadWeightsException(file + ": cannot be read (" + e.getMessage() + ")", e);
        }
    }
}

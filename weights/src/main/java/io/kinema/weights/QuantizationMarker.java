package io.kinema.weights;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * The tensor {@code X.comfy_quant}: UTF-8 bytes of a JSON object that says how {@code X.weight} is coded.
 *
 * @param format   {@code int8_tensorwise} (in spite of its name with one scale for each row) or an FP8 type
 * @param rotation width of the rotated groups of columns; empty when the columns are as they were trained
 */
record QuantizationMarker(String format, OptionalInt rotation) {
    static final String INT8 = "int8_tensorwise";
    static final String FLOAT8_E4M3 = "float8_e4m3fn";
    static final String FLOAT8_E5M2 = "float8_e5m2";
    /** The formats that can be read. */
    static final List<String> UNDERSTOOD = List.of(INT8, FLOAT8_E4M3, FLOAT8_E5M2);

    /** The last asks for products at full precision, and there are no others here. */
    private static final Set<String> FIELDS = Set.of("format", "convrot", "convrot_groupsize", "full_precision_matrix_mult");
    private static final long LARGEST = 4096;
    private static final ObjectMapper JSON = new ObjectMapper();

    /**
     * @param marker  U8 [bytes]
     * @param columns of the weight
     * @throws BadWeightsException when it is not of that form, or says something that this version does not know
     */
    static QuantizationMarker read(StoredTensor marker, long columns) {
        JsonNode json = json(marker);
        Optional<String> wrong = misread(json);
        if (wrong.isPresent()) {
            throw bad(marker, "says " + json + ", " + wrong.get());
        }
        return new QuantizationMarker(json.get("format").asText(), rotation(marker, json, columns));
    }

    /** The JSON bytes of an INT8 matrix's marker. */
    static byte[] int8(OptionalInt group) {
        ObjectNode json = JSON.createObjectNode().put("format", INT8).put("convrot", group.isPresent());
        group.ifPresent(g -> json.put("convrot_groupsize", g));
        return json.toString().getBytes(StandardCharsets.UTF_8);
    }

    private static JsonNode json(StoredTensor marker) {
        if (marker.dtype() != DType.U8 || marker.shape().rank() != 1 || marker.shape().elements() > LARGEST) {
            throw bad(marker, "is " + marker.dtype() + marker.shape() + ", expected the bytes of a JSON object, U8 with one axis of at most " + LARGEST);
        }
        try {
            JsonNode json = JSON.readTree(marker.data().toArray(ValueLayout.JAVA_BYTE));
            if (json.isObject()) {
                return json;
            }
            throw bad(marker, "holds " + json.getNodeType() + ", expected the bytes of a JSON object");
        } catch (JsonProcessingException e) {
            throw new BadWeightsException(marker.file() + ": tensor " + marker.name() + " is not JSON (" + e.getOriginalMessage() + "); fetch the file again", e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What is wrong with its fields, or empty. */
    private static Optional<String> misread(JsonNode json) {
        Optional<String> stranger = json.propertyStream().map(Map.Entry::getKey).filter(k -> !FIELDS.contains(k)).findFirst();
        if (stranger.isPresent()) {
            return Optional.of("expected no field but " + String.join(", ", FIELDS.stream().sorted().toList()) + "; this version does not know '" + stranger.get() + "'");
        }
        String format = json.path("format").asText();
        if (!UNDERSTOOD.contains(format)) {
            return Optional.of("expected a format among " + UNDERSTOOD);
        }
        boolean rotated = json.path("convrot").asBoolean(false);
        if (rotated && !format.equals(INT8)) {
            return Optional.of("expected rotated columns (convrot) only with " + INT8);
        }
        boolean typed = (!json.has("convrot") || json.path("convrot").isBoolean()) && (!rotated || json.path("convrot_groupsize").isInt());
        return typed ? Optional.empty() : Optional.of("expected convrot true or false, and a whole convrot_groupsize with true");
    }

    private static OptionalInt rotation(StoredTensor marker, JsonNode json, long columns) {
        if (!json.path("convrot").asBoolean(false)) {
            return OptionalInt.empty();
        }
        int group = json.path("convrot_groupsize").asInt();
        if (!RegularHadamard.order(group) || columns % group != 0) {
            throw bad(marker, "says convrot_groupsize " + group + ", expected a power of 4 that divides the " + columns + " columns of the weight");
        }
        return OptionalInt.of(group);
    }

    private static BadWeightsException bad(StoredTensor marker, String what) {
        return new BadWeightsException(marker.file() + ": tensor " + marker.name() + " " + what);
    }
}

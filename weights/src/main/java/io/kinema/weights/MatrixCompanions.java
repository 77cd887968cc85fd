package io.kinema.weights;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * Puts a matrix together with the tensors beside it that say how to read it. {@code X.weight} of I8 needs
 * {@code X.weight_scale} (F32, one for each row) and {@code X.comfy_quant} (U8, the bytes of a JSON object with the fields
 * {@code format}, {@code convrot} and {@code convrot_groupsize}). What a matrix is follows from these, never from its name.
 */
public final class MatrixCompanions {
    /** What follows a module's name in the names of the tensors beside its weight. */
    public static final List<String> SUFFIXES = List.of(".weight_scale", ".comfy_quant");

    private static final String WEIGHT = ".weight";
    private static final String SCALE = SUFFIXES.get(0);
    private static final String MARKER = SUFFIXES.get(1);
    private static final String INT8_FORMAT = "int8_tensorwise";
    private static final Set<String> FIELDS = Set.of("format", "convrot", "convrot_groupsize");
    private static final ObjectMapper JSON = new ObjectMapper();

    private MatrixCompanions() {
    }

    /** The name of the weight that {@code name} stands beside, or empty when it is no companion's name. */
    public static Optional<String> weightOf(String name) {
        return SUFFIXES.stream().filter(name::endsWith).findFirst().map(s -> name.substring(0, name.length() - s.length()) + WEIGHT);
    }

    /** Rows {@code [from, to)} of the matrix called {@code name}. */
    static StoredMatrix rows(TensorSource source, String name, long from, long to) {
        StoredTensor values = source.rows(name, from, to);
        requireMatrix(values);
        if (values.dtype().floating()) {
            return new FloatMatrix(values);
        }
        if (values.dtype() != DType.I8 || !name.endsWith(WEIGHT)) {
            throw new BadWeightsException(values.file() + ": tensor " + name + " is " + values.dtype()
                    + ", expected a float dtype, or I8 with a scale for each row; use a float or INT8 checkpoint");
        }
        String module = name.substring(0, name.length() - WEIGHT.length());
        requireScales(source, values, module + SCALE, source.shape(name).dim(0));
        OptionalInt rotation = rotation(source, values, module + MARKER);
        return new Int8Matrix(values, source.rows(module + SCALE, from, to), rotation);
    }

    private static void requireMatrix(StoredTensor values) {
        if (values.shape().rank() != 2) {
            throw new BadWeightsException(values.file() + ": tensor " + values.name() + " has shape " + values.shape() + ", expected a matrix");
        }
    }

    private static void requireScales(TensorSource source, StoredTensor values, String name, long rows) {
        StoredTensor scales = companion(source, values, name, "the scales of its rows");
        boolean column = scales.shape().rank() == 1 || scales.shape().rank() == 2 && scales.shape().dim(1) == 1;
        if (scales.dtype() != DType.F32 || !column || scales.shape().dim(0) != rows) {
            throw new BadWeightsException(scales.file() + ": tensor " + name + " is " + scales.dtype() + scales.shape()
                    + ", expected F32[" + rows + "], one scale for each row of " + values.name());
        }
    }

    private static OptionalInt rotation(TensorSource source, StoredTensor values, String name) {
        StoredTensor marker = companion(source, values, name, "the bytes that say whether it is rotated");
        JsonNode json = json(marker);
        Optional<String> wrong = misread(marker, json);
        if (wrong.isPresent()) {
            throw new BadWeightsException(marker.file() + ": tensor " + name + " says " + json + ", " + wrong.get());
        }
        if (!json.path("convrot").asBoolean(false)) {
            return OptionalInt.empty();
        }
        int group = json.path("convrot_groupsize").asInt();
        long columns = values.shape().dim(1);
        if (!powerOfFour(group) || columns % group != 0) {
            throw new BadWeightsException(marker.file() + ": tensor " + name + " says convrot_groupsize " + group
                    + ", expected a power of 4 that divides the " + columns + " columns of " + values.name());
        }
        return OptionalInt.of(group);
    }

    /** What is wrong with a marker's fields, or empty. */
    private static Optional<String> misread(StoredTensor marker, JsonNode json) {
        if (marker.dtype() != DType.U8 || marker.shape().rank() != 1 || !json.isObject()) {
            return Optional.of("expected the bytes (U8, one axis) of a JSON object");
        }
        Optional<String> stranger = json.propertyStream().map(java.util.Map.Entry::getKey).filter(k -> !FIELDS.contains(k)).findFirst();
        if (stranger.isPresent()) {
            return Optional.of("expected no field but " + String.join(", ", FIELDS.stream().sorted().toList()) + "; this version does not know '" + stranger.get() + "'");
        }
        if (!json.path("format").asText().equals(INT8_FORMAT)) {
            return Optional.of("expected format \"" + INT8_FORMAT + "\"");
        }
        boolean rotated = json.path("convrot").asBoolean(false);
        boolean typed = (!json.has("convrot") || json.path("convrot").isBoolean()) && (!rotated || json.path("convrot_groupsize").isInt());
        return typed ? Optional.empty() : Optional.of("expected convrot true or false, and a whole convrot_groupsize with true");
    }

    private static StoredTensor companion(TensorSource source, StoredTensor values, String name, String what) {
        return source.find(name).orElseThrow(() -> new BadWeightsException(values.file() + ": tensor " + values.name()
                + " is I8 and " + name + " (" + what + ") is missing; the file is incomplete or of another INT8 format"));
    }

    private static JsonNode json(StoredTensor marker) {
        try {
            return JSON.readTree(marker.data().toArray(java.lang.foreign.ValueLayout.JAVA_BYTE));
        } catch (JsonProcessingException e) {
            throw new BadWeightsException(marker.file() + ": tensor " + marker.name() + " is not JSON (" + e.getOriginalMessage() + ")", e);
        } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private static boolean powerOfFour(int n) {
        return n >= 4 && Integer.bitCount(n) == 1 && Integer.numberOfTrailingZeros(n) % 2 == 0;
    }
}

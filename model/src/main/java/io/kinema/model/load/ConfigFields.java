package io.kinema.model.load;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.weights.BadWeightsException;
import java.util.Optional;

/**
 * Reads checked fields of one JSON object of a checkpoint's config. Every complaint is a {@link BadWeightsException}
 * that names the config, the field, what it holds and what is expected.
 *
 * @param config what is being read, for messages: {@code transformer config}
 * @param node   a JSON object
 */
public record ConfigFields(String config, JsonNode node) {
    /** No released size comes near this; it keeps products of two sizes inside a long and of three small ones inside an int. */
    private static final int LARGEST = 1 << 24;

    public ConfigFields {
        if (node == null || !node.isObject()) {
            throw new BadWeightsException(config + ": got " + describe(node) + ", expected a JSON object; is this the model's config.json?");
        }
    }

    /** True when the field is there and not null. */
    public boolean has(String field) {
        return node.hasNonNull(field);
    }

    /** A nested object. @throws BadWeightsException when absent or not an object */
    public ConfigFields object(String field) {
        return new ConfigFields(config + " " + field, node.get(field));
    }

    /** A nested object, or empty when the field is absent or null. */
    public Optional<ConfigFields> optionalObject(String field) {
        return has(field) ? Optional.of(object(field)) : Optional.empty();
    }

    /** A whole number from 1 to 2^24. */
    public int size(String field) {
        return whole(field, required(field), 1);
    }

    /** A whole number from 1 to 2^24, or {@code absent} when the field is absent. */
    public int size(String field, int absent) {
        return has(field) ? size(field) : absent;
    }

    /** A whole number from 0 to 2^24, or {@code absent} when the field is absent. */
    public int count(String field, int absent) {
        return has(field) ? whole(field, node.get(field), 0) : absent;
    }

    /** A list of whole numbers from {@code least} to 2^24. */
    public int[] wholes(String field, int least) {
        JsonNode list = required(field);
        if (!list.isArray()) {
            throw wrong(field, describe(list), "a list of whole numbers");
        }
        int[] out = new int[list.size()];
        for (int i = 0; i < out.length; i++) {
            out[i] = whole(field + "[" + i + "]", list.get(i), least);
        }
        return out;
    }

    /** A finite number above 0, or {@code absent} when the field is absent. */
    public double positive(String field, double absent) {
        if (!has(field)) {
            return absent;
        }
        JsonNode value = node.get(field);
        double number = value.isNumber() ? value.doubleValue() : Double.NaN;
        if (!(number > 0) || Double.isInfinite(number)) {
            throw wrong(field, describe(value), "a number above 0");
        }
        return number;
    }

    /** A field that has only one supported value when it is there at all. */
    public void only(String field, String supported) {
        if (has(field) && !node.get(field).asText().equals(supported)) {
            throw wrong(field, describe(node.get(field)), supported + " (nothing else is supported)");
        }
    }

    /** The exception for a field that holds {@code got}. */
    public BadWeightsException wrong(String field, Object got, String expected) {
        return new BadWeightsException(config + ": " + field + " is " + got + ", expected " + expected + "; correct the model's config.json");
    }

    private JsonNode required(String field) {
        JsonNode value = node.get(field);
        if (value == null || value.isNull()) {
            throw new BadWeightsException(config + ": " + field + " is missing, expected a value; is this the model's config.json?");
        }
        return value;
    }

    private int whole(String field, JsonNode value, int least) {
        if (!value.isIntegralNumber() || !value.canConvertToInt() || value.intValue() < least || value.intValue() > LARGEST) {
            throw wrong(field, describe(value), "a whole number from " + least + " to " + LARGEST);
        }
        return value.intValue();
    }

    private static String describe(JsonNode value) {
        if (value == null) {
            return "nothing";
        }
        String text = value.toString();
        return text.length() <= 60 ? text : text.substring(0, 60) + "...";
    }
}

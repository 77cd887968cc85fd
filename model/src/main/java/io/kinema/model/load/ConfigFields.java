package io.kinema.model.load;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.weights.BadWeightsException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;

/**
 * Reads the fields of one network's {@code config.json} and checks them as they are read. Every complaint is a
 * {@link BadWeightsException} that names the network, the field, what it got and what it expected.
 */
public final class ConfigFields {
    private final String network;
    private final JsonNode json;

    /**
     * @param network name used in messages, such as {@code video VAE}
     * @param json    the parsed file; must be an object
     */
    public ConfigFields(String network, JsonNode json) {
        this.network = network;
        this.json = json;
        if (!json.isObject()) {
            throw new BadWeightsException(network + " config: got " + json.getNodeType() + ", expected a JSON object; is this the component's config.json?");
        }
    }

    /** A whole number in [low, high]. */
    public int integer(String name, int low, int high) {
        return integer(name, field(name), low, high);
    }

    /** A list of at least one whole number in [low, high]. */
    public List<Integer> integers(String name, int low, int high) {
        return integers(name, field(name), low, high);
    }

    /** A list of at least one list of whole numbers in [low, high]. */
    public List<List<Integer>> integerLists(String name, int low, int high) {
        List<List<Integer>> lists = new ArrayList<>();
        for (JsonNode entry : list(name, field(name))) {
            lists.add(integers(name, entry, low, high));
        }
        return List.copyOf(lists);
    }

    /** A finite number in [low, high]. */
    public double number(String name, double low, double high) {
        return number(name, field(name), low, high);
    }

    /** Exactly {@code count} finite numbers, rounded to FP32. */
    public float[] floats(String name, int count) {
        JsonNode list = list(name, field(name));
        if (list.size() != count) {
            throw wrong(name, list.size() + " numbers", count + " (one per latent channel)");
        }
        float[] values = new float[count];
        for (int i = 0; i < count; i++) {
            values[i] = (float) number(name, list.get(i), -Float.MAX_VALUE, Float.MAX_VALUE);
        }
        return values;
    }

    /** One of the allowed words. */
    public String word(String name, String... allowed) {
        String text = require(name, field(name), JsonNode::isTextual, "one of " + Arrays.toString(allowed)).asText();
        if (!Arrays.asList(allowed).contains(text)) {
            throw wrong(name, text, "one of " + Arrays.toString(allowed));
        }
        return text;
    }

    /** True when the field is there and not null. */
    public boolean has(String name) {
        return json.hasNonNull(name);
    }

    /** {@link #integer(String, int, int)}, or {@code absent} when the field is not there. */
    public int integerOr(int absent, String name, int low, int high) {
        return has(name) ? integer(name, low, high) : absent;
    }

    /** A list of whole numbers in [low, high], maybe empty, or {@code absent} when the field is not there. */
    public List<Integer> integersOr(List<Integer> absent, String name, int low, int high) {
        if (!has(name)) {
            return absent;
        }
        JsonNode node = field(name);
        return node.isArray() && node.isEmpty() ? List.of() : integers(name, node, low, high);
    }

    /** {@link #number(String, double, double)}, or {@code absent} when the field is not there. */
    public double numberOr(double absent, String name, double low, double high) {
        return has(name) ? number(name, low, high) : absent;
    }

    /** Refuses a field that is there with a value other than the only supported one. */
    public void only(String name, String supported) {
        if (has(name) && !json.get(name).asText().equals(supported)) {
            throw wrong(name, json.get(name), supported + ", the only kind supported");
        }
    }

    /** The fields of a nested object, named in messages as {@code network.name}. */
    public ConfigFields object(String name) {
        return new ConfigFields(network + " " + name, field(name));
    }

    /** The exception for a field whose value cannot be used. */
    public BadWeightsException wrong(String name, Object got, String expected) {
        return new BadWeightsException(network + " config: " + name + " is " + got + ", expected " + expected
                + "; use the config.json that belongs to these weights");
    }

    private JsonNode field(String name) {
        JsonNode node = json.get(name);
        if (node == null) {
            throw wrong(name, "missing", "a value");
        }
        return node;
    }

    private List<Integer> integers(String name, JsonNode node, int low, int high) {
        List<Integer> values = new ArrayList<>();
        for (JsonNode entry : list(name, node)) {
            values.add(integer(name, entry, low, high));
        }
        return List.copyOf(values);
    }

    private JsonNode list(String name, JsonNode node) {
        return require(name, node, n -> n.isArray() && !n.isEmpty(), "a list of at least one value");
    }

    private int integer(String name, JsonNode node, int low, int high) {
        String expected = "a whole number from " + low + " to " + high;
        int value = require(name, node, n -> n.isIntegralNumber() && n.canConvertToInt(), expected).asInt();
        if (value < low || value > high) {
            throw wrong(name, value, expected);
        }
        return value;
    }

    private double number(String name, JsonNode node, double low, double high) {
        String expected = "a number from " + low + " to " + high;
        double value = require(name, node, JsonNode::isNumber, expected).asDouble();
        if (!(value >= low && value <= high)) {
            throw wrong(name, value, expected);
        }
        return value;
    }

    private JsonNode require(String name, JsonNode node, Predicate<JsonNode> rule, String expected) {
        if (!rule.test(node)) {
            String text = node.toString();
            throw wrong(name, text.length() > 60 ? text.substring(0, 60) + "..." : text, expected);
        }
        return node;
    }
}

package io.kinema.model.adapter;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kinema.weights.BadWeightsException;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The alpha that an adapter file's metadata states: by itself, or in the configuration that PEFT saves. */
final class StatedAlpha {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String PEFT = "lora_adapter_metadata";
    private static final List<String> KEYS = List.of("alpha", "lora_alpha", "ss_network_alpha");

    private final String origin;
    private final Optional<Double> whole;
    private final Optional<JsonNode> pattern;
    private final boolean squareRoot;

    private StatedAlpha(String origin, Optional<Double> whole, Optional<JsonNode> pattern, boolean squareRoot) {
        this.origin = origin;
        this.whole = whole;
        this.pattern = pattern;
        this.squareRoot = squareRoot;
    }

    static StatedAlpha read(String origin, Map<String, String> metadata) {
        if (metadata.containsKey(PEFT)) {
            return peft(origin, metadata.get(PEFT));
        }
        Optional<String> key = KEYS.stream().filter(metadata::containsKey).findFirst();
        return new StatedAlpha(origin, key.map(k -> number(origin, k, metadata.get(k))), Optional.empty(), false);
    }

    /** Names carry the component in front, as in {@code transformer.lora_alpha}. */
    private static StatedAlpha peft(String origin, String text) {
        JsonNode root = parse(origin, text);
        if (field(root, "use_dora").asBoolean() || field(root, "use_bdlora").asBoolean()) {
            throw new BadWeightsException(origin + ": metadata " + PEFT + " asks for DoRA, expected a plain low-rank adapter; export it as one");
        }
        JsonNode alpha = field(root, "lora_alpha");
        return new StatedAlpha(origin, alpha.isNumber() ? Optional.of(number(origin, "lora_alpha", alpha.asText())) : Optional.empty(),
                Optional.of(field(root, "alpha_pattern")).filter(p -> p.isObject() && !p.isEmpty()), field(root, "use_rslora").asBoolean());
    }

    private static JsonNode parse(String origin, String text) {
        try {
            return JSON.readTree(text);
        } catch (JsonProcessingException e) {
            throw new BadWeightsException(origin + ": metadata " + PEFT + " is no JSON (" + e.getOriginalMessage() + "); export the adapter again", e);
        }
    }

    private static JsonNode field(JsonNode root, String name) {
        JsonNode direct = root.path(name);
        for (Partition partition : Partition.values()) {
            direct = direct.isMissingNode() ? root.path(partition.label() + "." + name) : direct;
        }
        return direct;
    }

    /** The alpha of a module, or empty when the metadata states none. */
    Optional<Alpha> of(String module) {
        Optional<Double> special = pattern.flatMap(p -> p.properties().stream()
                .filter(e -> module.equals(e.getKey()) || module.endsWith("." + e.getKey()))
                .map(e -> number(origin, "alpha_pattern " + e.getKey(), e.getValue().asText())).findFirst());
        return special.or(() -> whole).map(Alpha::of);
    }

    /** What multiplies alpha / rank: rank-stabilised adapters divide by the root of the rank instead. */
    double correction(int rank) {
        return squareRoot ? Math.sqrt(rank) : 1;
    }

    private static double number(String origin, String key, String value) {
        try {
            double number = Double.parseDouble(value.strip());
            if (number > 0 && Double.isFinite(number)) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Refused below, like a number out of range.
        }
        throw new BadWeightsException(origin + ": metadata " + key + " is '" + value + "', expected a number above 0; export the adapter again");
    }
}

package io.kinema.model.layout;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.model.load.Inventory;
import io.kinema.model.load.Inventory.Rule;
import io.kinema.weights.Shape;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.function.Function;

/**
 * How a network's tensors are written in a layout: each stored tensor with the tensors that a network reads from it. The way back
 * of {@link OriginalTensors}, from the same map. Immutable.
 *
 * @param tensors by stored name, in the network's order
 */
public record StoredLayout(SequencedMap<String, Target> tensors) {
    /**
     * One stored tensor.
     *
     * @param name  stored name
     * @param shape sizes, outermost first
     * @param rule  what its dtype may be; {@link Rule#UNREAD} for one that no network reads and that is made from the config
     * @param parts names that a network reads, with their rows; empty for one that nothing reads
     */
    public record Target(String name, Shape shape, Rule rule, List<Part> parts) {
        /**
         * Its bytes.
         *
         * @param part the bytes of a part, all of one element size
         * @param out  as many bytes as the parts have together
         */
        public void assemble(Function<String, MemorySegment> part, MemorySegment out) {
            parts.forEach(p -> p.order().scatter(part.apply(p.name()), out));
        }

        /** True when its bytes are those of its only part. */
        public boolean verbatim() {
            return parts.size() == 1 && parts.getFirst().order() instanceof RowOrder.Same;
        }

        /** The names that a network reads from it. */
        public List<String> names() {
            return parts.stream().map(Part::name).toList();
        }
    }

    /** A tensor that a network reads. */
    public record Part(String name, RowOrder order) {
    }

    /** @param config in the diffusers layout's terms */
    public static StoredLayout of(Network network, WeightLayout layout, JsonNode config) {
        Inventory stored = network.stored(layout, config);
        Map<String, List<Part>> parts = new LinkedHashMap<>();
        if (layout == WeightLayout.DIFFUSERS || layout == WeightLayout.EITHER) {
            stored.entries().forEach(e -> parts.put(e.name(), List.of(new Part(e.name(), new RowOrder.Same()))));
        } else {
            network.keys(layout, config).sources().forEach((name, source) ->
                    parts.computeIfAbsent(source.name(), n -> new ArrayList<>()).add(new Part(name, source.order())));
        }
        SequencedMap<String, Target> targets = new LinkedHashMap<>();
        stored.entries().forEach(e -> targets.put(e.name(), new Target(e.name(), e.shape(), e.rule(), List.copyOf(parts.getOrDefault(e.name(), List.of())))));
        return new StoredLayout(targets);
    }

    /** The values of a stored tensor that no network reads: a function of the config, or zeros. */
    public static float[] unread(Target target, JsonNode config) {
        return target.name().equals(RotaryFrequencies.NAME) ? RotaryFrequencies.values(config) : new float[Math.toIntExact(target.shape().elements())];
    }
}

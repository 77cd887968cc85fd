package io.kinema.quality;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;

/**
 * What the gates say of one comparison.
 *
 * @param lines       one for each gate that could be measured, in the gates' order
 * @param notMeasured the gates of clips that could not be
 * @param relaxed     whether a limit in force is looser than the published one
 */
public record Verdict(List<GateLine> lines, List<Gate> notMeasured, boolean relaxed) {
    public Verdict {
        lines = List.copyOf(lines);
        notMeasured = List.copyOf(notMeasured);
    }

    /** Whether something was measured and all of it passes. Ask {@link #complete()} too before calling a candidate qualified. */
    public boolean passed() {
        return !lines.isEmpty() && lines.stream().allMatch(GateLine::pass);
    }

    /** Whether every gate of clips was measured. */
    public boolean complete() {
        return notMeasured.isEmpty();
    }

    /** {@code passed}, {@code complete}, {@code relaxed}, {@code gates} and {@code not_measured}; a number JSON cannot hold is a text. */
    public ObjectNode toJson() {
        ObjectNode root = JsonNodeFactory.instance.objectNode().put("passed", passed()).put("complete", complete()).put("relaxed", relaxed);
        ArrayNode gates = root.putArray("gates");
        for (GateLine line : lines) {
            ObjectNode node = gates.addObject().put("name", line.gate().label());
            JsonNumbers.put(node, "got", line.got());
            JsonNumbers.put(node, "limit", line.limit());
            JsonNumbers.put(node, "published_limit", line.gate().published());
            node.put("pass", line.pass());
        }
        ArrayNode missing = root.putArray("not_measured");
        notMeasured.forEach(gate -> missing.add(gate.label()));
        return root;
    }
}

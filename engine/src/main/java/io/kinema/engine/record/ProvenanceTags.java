package io.kinema.engine.record;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.engine.plan.ResolvedAdapter;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * What an MP4 file says of its own making, as tags of the file: enough to make it again. Nothing of the machine, of the number of
 * threads and of the day is among them, so the same request gives the same bytes everywhere.
 */
public final class ProvenanceTags {
    /** What the keys begin with. */
    public static final String PREFIX = "kinema.";

    private ProvenanceTags() {
    }

    /** The tags of one output, sorted: {@code version}, {@code seed}, {@code model}, hashes, {@code precision}, {@code request} (JSON). */
    public static SortedMap<String, String> of(RunRecord run) {
        ObjectNode request = ResolvedRequestJson.of(run.request());
        request.put("seed", run.output().seed());
        // Sentences for the person at the screen, and how many clips came with this one, say nothing of this one.
        request.remove(List.of("notes", "outputs"));
        SortedMap<String, String> tags = new TreeMap<>(Map.of(
                PREFIX + "version", run.engine().version(),
                PREFIX + "seed", Long.toString(run.output().seed()),
                PREFIX + "model", run.model().name(),
                PREFIX + "transformer", run.model().transformer(),
                PREFIX + "model_sha256", run.model().sha256(),
                PREFIX + "transformer_sha256", run.model().transformerSha256(),
                PREFIX + "backend", run.execution().backend(),
                PREFIX + "precision", run.execution().precision(),
                PREFIX + "transformer_encodings", String.join(", ", run.model().transformerEncodings()),
                PREFIX + "request", request.toString()));
        if (!run.request().adapters().isEmpty()) {
            tags.put(PREFIX + "adapter_sha256", run.request().adapters().stream().map(ResolvedAdapter::sha256).collect(Collectors.joining(",")));
        }
        return tags;
    }
}

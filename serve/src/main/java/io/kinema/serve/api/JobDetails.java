package io.kinema.serve.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.engine.record.ResolvedRequestJson;
import io.kinema.serve.request.Prepared;

/** What is kept with a job: the request with every default, and what was snapped or chosen. */
final class JobDetails {
    private JobDetails() {
    }

    static String of(Prepared prepared) {
        ObjectNode details = JsonNodeFactory.instance.objectNode();
        details.set("request", request(prepared));
        details.set("notes", notes(prepared));
        return details.toString();
    }

    static JsonNode notes(Prepared prepared) {
        var notes = JsonNodeFactory.instance.arrayNode();
        prepared.notes().forEach(notes::add);
        return notes;
    }

    private static ObjectNode request(Prepared prepared) {
        ObjectNode request = ResolvedRequestJson.of(prepared.resolved());
        request.remove(java.util.List.of("prompt", "notes"));
        // Files are called as the client called them, not as they are staged.
        for (String list : java.util.List.of("keyframes", "references")) {
            request.path(list).forEach(entry -> ((ObjectNode) entry).put("file", prepared.names().getOrDefault(entry.path("file").asText(), "")));
        }
        return request;
    }
}

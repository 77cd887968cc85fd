package io.kinema.measure.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.engine.record.RunRecord;
import io.kinema.measure.contract.CanonicalJson;
import java.time.Instant;

/**
 * Where a bench ran.
 *
 * @param started when
 * @param facts   {@code engine}, {@code host}, {@code execution}, {@code model} and {@code devices} of a run record
 */
public record Environment(Instant started, ObjectNode facts) {
    static Environment of(Instant started, RunRecord record) {
        JsonNode run = record.toJson();
        ObjectNode facts = JsonNodeFactory.instance.objectNode();
        facts.set("engine", run.path("engine"));
        facts.set("host", run.path("host"));
        facts.set("execution", run.path("execution"));
        facts.set("model", run.path("model"));
        ObjectNode devices = facts.putObject("devices");
        run.path("ranks").forEach(rank -> devices.set(rank.path("device").asText(), rank.path("facts")));
        return new Environment(started, facts);
    }

    /** What it is, by content; the time is left out. */
    public String sha256() {
        return CanonicalJson.sha256(facts);
    }
}

package io.kinema.jobs.sql;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.jobs.JobError;
import io.kinema.jobs.JobOutput;
import io.kinema.jobs.JobProgress;
import io.kinema.jobs.JobStage;
import io.kinema.jobs.OutputFile;
import io.kinema.jobs.storage.StorageKey;
import io.kinema.jobs.storage.StoredFile;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** The parts of a job that the database keeps as JSON text. */
final class JobJson {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private JobJson() {
    }

    static JsonNode read(String text) {
        try {
            return MAPPER.readTree(text);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("job store: a job holds text that is no JSON; the database was changed by something else", e);
        }
    }

    static String write(JobProgress progress) {
        return NODES.objectNode().put("stage", progress.stage().label()).put("stage_started_at", progress.stageStartedAt().toString())
                .put("output", progress.output()).put("outputs", progress.outputs()).put("step", progress.step()).put("steps", progress.steps())
                .put("resumed_at_step", progress.resumedAtStep()).toString();
    }

    static JobProgress progress(String text) {
        JsonNode node = read(text);
        return new JobProgress(JobStage.labelled(node.path("stage").asText()).orElseThrow(), Instant.parse(node.path("stage_started_at").asText()),
                node.path("output").asInt(), node.path("outputs").asInt(), node.path("step").asInt(), node.path("steps").asInt(),
                node.path("resumed_at_step").asInt());
    }

    static String write(List<JobOutput> outputs) {
        ArrayNode array = NODES.arrayNode();
        for (JobOutput output : outputs) {
            ObjectNode files = array.addObject().put("index", output.index()).put("seed", output.seed()).putObject("files");
            output.files().forEach((kind, file) -> files.putObject(kind.fileName()).put("key", file.key().value()).put("bytes", file.bytes()));
        }
        return array.toString();
    }

    static List<JobOutput> outputs(String text) {
        List<JobOutput> outputs = new ArrayList<>();
        for (JsonNode node : read(text)) {
            Map<OutputFile, StoredFile> files = new EnumMap<>(OutputFile.class);
            node.path("files").properties().forEach(entry -> OutputFile.named(entry.getKey()).ifPresent(kind -> files.put(kind,
                    new StoredFile(new StorageKey(entry.getValue().path("key").asText()), entry.getValue().path("bytes").asLong()))));
            outputs.add(new JobOutput(node.path("index").asInt(), node.path("seed").asLong(), files));
        }
        return outputs;
    }

    static String write(JobError error) {
        return NODES.objectNode().put("code", error.code().label()).put("message", error.message()).toString();
    }

    static JobError error(String text) {
        JsonNode node = read(text);
        return new JobError(JobError.Code.labelled(node.path("code").asText()).orElseThrow(), node.path("message").asText());
    }
}

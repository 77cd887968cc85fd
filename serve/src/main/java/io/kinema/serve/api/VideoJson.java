package io.kinema.serve.api;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.jobs.Job;
import io.kinema.jobs.JobOutput;
import io.kinema.jobs.JobProgress;
import io.kinema.jobs.JobStage;
import io.kinema.jobs.JobState;
import io.kinema.jobs.OutputFile;
import java.time.Instant;
import java.util.Optional;

/** A job as OpenAI's video object, with what this engine knows beside it. Nothing in it is an estimate. */
final class VideoJson {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final int WHOLE = 100;

    private VideoJson() {
    }

    static ObjectNode of(Job job) {
        JsonNode details = details(job);
        JsonNode resolved = details.path("request");
        ObjectNode node = JsonNodeFactory.instance.objectNode().put("id", job.id().value()).put("object", "video").put("model", job.request().model())
                .put("status", status(job.state())).put("progress", progress(job)).put("created_at", job.createdAt().getEpochSecond());
        time(node, "started_at", job.startedAt());
        time(node, "completed_at", job.finishedAt());
        time(node, "expires_at", job.expiresAt());
        node.put("updated_at", seconds(job.updatedAt())).put("prompt", job.request().generate().prompt())
                .put("size", resolved.path("width").asInt() + "x" + resolved.path("height").asInt()).put("seconds", resolved.path("seconds").asText("0"));
        node.put("remixed_from_video_id", job.remixedFrom().map(Object::toString).orElse(null));
        error(node, job);
        stage(node, job);
        node.put("attempt", job.attempts().begun()).put("cancelling", job.cancelling());
        node.set("request", resolved);
        node.set("notes", details.path("notes"));
        ArrayNode outputs = node.putArray("outputs");
        job.outputs().forEach(output -> outputs.add(output(job, output)));
        if (job.state() == JobState.COMPLETED) {
            node.put("content_url", "/v1/videos/" + job.id() + "/content");
        }
        return node;
    }

    /** OpenAI's words. A quarantined job has failed; its error says how. */
    private static String status(JobState state) {
        return switch (state) {
            case QUARANTINED -> JobState.FAILED.label();
            case QUEUED, IN_PROGRESS, COMPLETED, FAILED, CANCELLED -> state.label();
        };
    }

    /** Finished outputs of all outputs in percent: a share of the time would be a guess. */
    private static int progress(Job job) {
        int outputs = Math.max(1, job.request().generate().outputs());
        return job.state() == JobState.COMPLETED ? WHOLE : WHOLE * Math.min(job.outputs().size(), outputs - 1) / outputs;
    }

    private static void error(ObjectNode node, Job job) {
        if (job.error().isEmpty()) {
            node.putNull("error");
            return;
        }
        node.putObject("error").put("code", job.error().get().code().label()).put("message", job.error().get().message());
    }

    private static void stage(ObjectNode node, Job job) {
        JobProgress progress = job.progress();
        node.put("stage", progress.stage().label()).put("stage_started_at", seconds(progress.stageStartedAt())).put("output_index", progress.output());
        if (progress.steps() > 0 && progress.stage() != JobStage.QUEUED) {
            node.putObject("denoise_progress").put("completed", progress.step()).put("total", progress.steps()).put("resumed_at", progress.resumedAtStep());
        } else {
            node.putNull("denoise_progress");
        }
    }

    private static ObjectNode output(Job job, JobOutput output) {
        String base = "/v1/videos/" + job.id() + "/content?output_index=" + output.index();
        ObjectNode node = JsonNodeFactory.instance.objectNode().put("index", output.index()).put("seed", output.seed()).put("url", base);
        output.file(OutputFile.THUMBNAIL).ifPresent(file -> node.put("thumbnail_url", base + "&variant=thumbnail"));
        output.file(OutputFile.SPRITESHEET).ifPresent(file -> node.put("spritesheet_url", base + "&variant=spritesheet"));
        output.file(OutputFile.RECORD).ifPresent(file -> node.put("record_url", base + "&variant=record"));
        output.file(OutputFile.VIDEO).ifPresent(file -> node.put("bytes", file.bytes()));
        return node;
    }

    private static JsonNode details(Job job) {
        try {
            return MAPPER.readTree(job.request().details());
        } catch (JsonProcessingException foreign) {
            // Recorded by somebody else, who keeps other things with it.
            return JsonNodeFactory.instance.objectNode();
        }
    }

    private static void time(ObjectNode node, String name, Optional<Instant> at) {
        if (at.isPresent()) {
            node.put(name, at.get().getEpochSecond());
        } else {
            node.putNull(name);
        }
    }

    /** With milliseconds: a stage may take less than a second. */
    private static double seconds(Instant at) {
        return at.toEpochMilli() / 1e3;
    }
}

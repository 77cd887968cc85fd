package io.kinema.serve.api;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.javalin.http.Context;
import io.kinema.jobs.Deletion;
import io.kinema.jobs.Job;
import io.kinema.jobs.JobId;
import io.kinema.jobs.JobOutput;
import io.kinema.jobs.JobPage;
import io.kinema.jobs.JobQuery;
import io.kinema.jobs.JobState;
import io.kinema.jobs.JobStore;
import io.kinema.jobs.OutputFile;
import io.kinema.jobs.storage.StoredFile;
import io.kinema.serve.http.Answers;
import io.kinema.serve.http.Caller;
import io.kinema.serve.http.StoredFileAnswer;
import io.kinema.serve.problem.Problem;
import io.kinema.serve.problem.ProblemKind;
import java.io.IOException;
import java.util.Optional;

/** Looks at jobs, cancels and deletes them, and sends their files. */
final class VideoQueries {
    private static final int OK = 200;
    private static final int DEFAULT_LIMIT = 20;
    private static final int MOST_OUTPUT_INDEX = 9;

    private final JobStore jobs;
    private final StoredFileAnswer files;

    VideoQueries(JobStore jobs, StoredFileAnswer files) {
        this.jobs = jobs;
        this.files = files;
    }

    /** The job of the path, when the caller may see it. */
    static Job owned(JobStore jobs, Context call, Caller caller) {
        return JobId.parse(call.pathParam("id")).flatMap(jobs::get).filter(job -> caller.owns(job.owner())).orElseThrow(VideoQueries::unknown);
    }

    private static Problem unknown() {
        return Problem.of(ProblemKind.NOT_FOUND, "video: got an id that leads to none, expected one of /v1/videos that was neither deleted nor has expired");
    }

    void get(Context call, Caller caller) {
        Answers.json(call, OK, VideoJson.of(owned(jobs, call, caller)));
    }

    void list(Context call, Caller caller) {
        JobQuery.Order order = switch (query(call, "order", "desc")) {
            case "asc" -> JobQuery.Order.OLDEST_FIRST;
            case "desc" -> JobQuery.Order.NEWEST_FIRST;
            default -> throw Problem.invalid("order", "'" + query(call, "order", "") + "'", "expected asc or desc");
        };
        int limit = number(call, "limit", DEFAULT_LIMIT, 1, JobQuery.MOST);
        String after = query(call, "after", "");
        Optional<JobId> cursor = after.isEmpty() ? Optional.empty() : Optional.of(JobId.parse(after).orElseThrow(VideoQueries::unknown));
        JobPage page = jobs.list(new JobQuery(caller.owner(), order, cursor, limit));
        ObjectNode node = JsonNodeFactory.instance.objectNode().put("object", "list");
        ArrayNode data = node.putArray("data");
        page.jobs().forEach(job -> data.add(VideoJson.of(job)));
        node.put("first_id", page.jobs().isEmpty() ? null : page.jobs().getFirst().id().value());
        node.put("last_id", page.jobs().isEmpty() ? null : page.jobs().getLast().id().value());
        Answers.json(call, OK, node.put("has_more", page.more()));
    }

    void cancel(Context call, Caller caller) {
        Job job = owned(jobs, call, caller);
        Answers.json(call, OK, VideoJson.of(jobs.cancel(job.id()).orElseThrow(VideoQueries::unknown)));
    }

    void delete(Context call, Caller caller) {
        Job job = owned(jobs, call, caller);
        Deletion deletion = jobs.delete(job.id());
        switch (deletion) {
            case DELETED -> Answers.json(call, OK, JsonNodeFactory.instance.objectNode().put("id", job.id().value()).put("object", "video.deleted")
                    .put("deleted", true));
            case IN_PROGRESS -> throw Problem.of(ProblemKind.CONFLICT, "video: got one in progress, expected a queued or finished one; cancel it first");
            case UNKNOWN -> throw unknown();
        }
    }

    void content(Context call, Caller caller) throws IOException {
        Job job = owned(jobs, call, caller);
        OutputFile kind = variant(query(call, "variant", "video"));
        int index = number(call, "output_index", 0, 0, MOST_OUTPUT_INDEX);
        Optional<JobOutput> output = job.output(index);
        if (output.isEmpty()) {
            throw job.state() == JobState.COMPLETED ? Problem.field(ProblemKind.NOT_FOUND, "output_index", "" + index, "expected 0 to " + (job.outputs().size() - 1))
                    : Problem.of(ProblemKind.CONFLICT, "video: got one that is " + job.state().label() + ", expected a completed one");
        }
        StoredFile file = output.get().file(kind).orElseThrow(() -> Problem.field(ProblemKind.NOT_FOUND, "variant",
                "'" + query(call, "variant", "video") + "'", "expected one that this video has"));
        files.send(call, file, job.id() + "-" + index + kind.fileName().substring(kind.fileName().lastIndexOf('.')), kind.mediaType());
    }

    private static OutputFile variant(String name) {
        return switch (name) {
            case "video" -> OutputFile.VIDEO;
            case "thumbnail" -> OutputFile.THUMBNAIL;
            case "spritesheet" -> OutputFile.SPRITESHEET;
            case "record" -> OutputFile.RECORD;
            case "latents" -> OutputFile.LATENTS;
            default -> throw Problem.invalid("variant", "'" + Problem.printable(name, 40) + "'", "expected video, thumbnail, spritesheet, record or latents");
        };
    }

    private static String query(Context call, String name, String otherwise) {
        return Optional.ofNullable(call.queryParam(name)).orElse(otherwise);
    }

    private static int number(Context call, String name, int otherwise, int least, int most) {
        String text = query(call, name, "");
        if (text.isEmpty()) {
            return otherwise;
        }
        if (text.matches("\\d{1,6}") && Integer.parseInt(text) >= least && Integer.parseInt(text) <= most) {
            return Integer.parseInt(text);
        }
        throw Problem.invalid(name, "'" + Problem.printable(text, 40) + "'", "expected " + least + " to " + most);
    }
}

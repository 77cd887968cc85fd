package io.kinema.serve.api;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.javalin.http.Context;
import io.kinema.engine.forecast.Rates;
import io.kinema.engine.forecast.RunPlan;
import io.kinema.jobs.Job;
import io.kinema.jobs.JobState;
import io.kinema.jobs.JobStore;
import io.kinema.jobs.Submission;
import io.kinema.jobs.Submitted;
import io.kinema.serve.body.BodyReader;
import io.kinema.serve.body.Staging;
import io.kinema.serve.http.Answers;
import io.kinema.serve.http.Caller;
import io.kinema.serve.http.RequestBody;
import io.kinema.serve.problem.Problem;
import io.kinema.serve.problem.ProblemKind;
import io.kinema.serve.request.Prepared;
import io.kinema.serve.request.VideoCalls;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** {@code POST /v1/videos} and {@code POST /v1/videos/{id}/remix}: from a body to a recorded job, or to its plan. */
final class VideoSubmission {
    private static final int ACCEPTED = 202;
    private static final int OK = 200;
    /** A plan reads a tokenizer and may probe the processor. */
    private static final int PLANS_AT_ONCE = 2;
    /** A burst of submissions must not take every connection to the store from those who only look. */
    private static final int RECORDED_AT_ONCE = 64;

    private final JobStore jobs;
    private final String model;
    private final BodyReader bodies;
    private final VideoCalls calls;
    private final Path stagingRoot;
    private final Supplier<Rates> rates;
    private final Counters counters;
    private final Semaphore plans = new Semaphore(PLANS_AT_ONCE);
    private final Semaphore records = new Semaphore(RECORDED_AT_ONCE, true);

    VideoSubmission(Service service, Counters counters) {
        this.jobs = service.jobs();
        this.model = service.offer().model();
        this.bodies = service.bodies();
        this.calls = service.calls();
        this.stagingRoot = service.staging();
        this.rates = service.rates();
        this.counters = counters;
    }

    void create(Context call, Caller caller) {
        try (Staging staging = new Staging(stagingRoot)) {
            Prepared prepared = calls.prepare(body(call, staging), caller, staging);
            if (prepared.dryRun()) {
                Answers.json(call, OK, plan(prepared));
                return;
            }
            answer(call, record(call, caller, prepared, Optional.empty(), true));
        }
    }

    void remix(Context call, Caller caller) {
        Job earlier = VideoQueries.owned(jobs, call, caller);
        if (earlier.state() != JobState.COMPLETED) {
            throw Problem.of(ProblemKind.CONFLICT, "video: got one that is " + earlier.state().label() + ", expected a completed one");
        }
        try (Staging staging = new Staging(stagingRoot)) {
            Prepared prepared = calls.remix(earlier, body(call, staging), staging);
            answer(call, record(call, caller, prepared, Optional.of(earlier), true));
        }
    }

    /** Records a job that lists do not show, for a caller that waits for it. @param waits hears of it at once */
    Job createUnlisted(Context call, Caller caller, Consumer<Job> waits) {
        try (Staging staging = new Staging(stagingRoot)) {
            Prepared prepared = calls.prepare(body(call, staging), caller, staging);
            if (prepared.dryRun()) {
                throw Problem.invalid("dry_run", "true", "expected it in POST /v1/videos");
            }
            Submitted submitted = record(call, caller, prepared, Optional.empty(), false);
            waits.accept(submitted.job());
            counters.submitted(submitted.repeated());
            return submitted.job();
        }
    }

    private ObjectNode body(Context call, Staging staging) {
        return bodies.read(Optional.ofNullable(call.contentType()).orElse(""), call.req().getContentLengthLong(), RequestBody.of(call), staging);
    }

    private Submitted record(Context call, Caller caller, Prepared prepared, Optional<Job> remixed, boolean listed) {
        Submission submission = Submission.of(model, prepared.request()).details(JobDetails.of(prepared));
        if (caller.owner().isPresent()) {
            submission = submission.owner(caller.owner().get());
        }
        String key = call.header("Idempotency-Key");
        if (key != null) {
            submission = submission.idempotencyKey(idempotencyKey(key));
        }
        if (remixed.isPresent()) {
            submission = submission.remixedFrom(remixed.get().id());
        }
        acquire(records);
        try {
            return jobs.submit(listed ? submission : submission.unlisted());
        } finally {
            records.release();
        }
    }

    private static void acquire(Semaphore places) {
        try {
            places.acquire();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Problem.of(ProblemKind.UNAVAILABLE, "the server is stopping; ask again when it is back");
        }
    }

    private static String idempotencyKey(String key) {
        if (key.isBlank() || key.length() > Submission.LONGEST_KEY || !key.chars().allMatch(c -> c >= ' ' && c < 0x7f)) {
            throw Problem.invalid("idempotency-key", key.length() + " characters", "expected 1 to " + Submission.LONGEST_KEY + " printable ones");
        }
        return key;
    }

    private void answer(Context call, Submitted submitted) {
        counters.submitted(submitted.repeated());
        call.header("Location", "/v1/videos/" + submitted.job().id());
        if (submitted.repeated()) {
            call.header("Idempotent-Replayed", "true");
        }
        Answers.json(call, ACCEPTED, VideoJson.of(submitted.job()));
    }

    private ObjectNode plan(Prepared prepared) {
        acquire(plans);
        try {
            RunPlan plan = calls.plan(prepared, rates.get());
            ObjectNode node = JsonNodeFactory.instance.objectNode().put("object", "video.plan");
            node.set("notes", JobDetails.notes(prepared));
            node.set("plan", plan.toJson());
            return node;
        } finally {
            plans.release();
        }
    }
}

package io.kinema.jobs;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Every change that a job may undergo, as functions from the job before to the job after; empty when the change does not apply
 * to it. Stores call them under a lock and keep what they return, so the rules stand here once.
 */
public final class JobTransitions {
    private static final String TWICE = "the engine process died on this job twice, so it is not tried again";
    private static final String LOST = "the worker of this job was lost " + Attempts.MOST_LOST + " times, so it is not tried again";

    private JobTransitions() {
    }

    /** A new job. */
    public static Job recorded(JobId id, Submission submission, JobRequest request, Duration keep, Instant now) {
        return new Job(id, JobState.QUEUED, request, submission.owner(), submission.listed(), submission.remixedFrom(), now, Optional.empty(),
                Optional.empty(), keep, Optional.empty(), now, 1, Attempts.NONE, false, JobProgress.queued(now, request.generate().outputs()), List.of(),
                Optional.empty());
    }

    /** A worker begins. */
    public static Optional<Job> begun(Job job, Instant now) {
        if (job.state() != JobState.QUEUED) {
            return Optional.empty();
        }
        Edit edit = new Edit(job, now);
        edit.state = JobState.IN_PROGRESS;
        edit.attempts = job.attempts().next();
        edit.startedAt = job.startedAt().or(() -> Optional.of(now));
        edit.progress = new JobProgress(JobStage.STARTING_ENGINE, now, job.outputs().size(), job.progress().outputs(), 0, 0, 0);
        return Optional.of(edit.job());
    }

    /** Its worker reports how far it is. */
    public static Optional<Job> advanced(Job job, int attempt, JobProgress progress, Instant now) {
        return ofAttempt(job, attempt).map(j -> {
            Edit edit = new Edit(j, now);
            edit.progress = progress;
            return edit.job();
        });
    }

    /** Its worker stored an output; the same one again replaces the first. */
    public static Optional<Job> withOutput(Job job, int attempt, JobOutput output, Instant now) {
        return ofAttempt(job, attempt).map(j -> {
            Edit edit = new Edit(j, now);
            edit.outputs = new ArrayList<>(j.outputs());
            edit.outputs.removeIf(o -> o.index() == output.index());
            edit.outputs.add(output);
            edit.outputs.sort(Comparator.comparingInt(JobOutput::index));
            return edit.job();
        });
    }

    /** Its worker has stored all outputs. */
    public static Optional<Job> completed(Job job, int attempt, Instant now) {
        return ofAttempt(job, attempt).map(j -> finished(j, JobState.COMPLETED, Optional.empty(), now));
    }

    /** Its worker met an error. */
    public static Optional<Job> failed(Job job, int attempt, JobError error, Instant now) {
        return ofAttempt(job, attempt).map(j -> finished(j, JobState.FAILED, Optional.of(error), now));
    }

    /** Its worker has stopped because of a cancel. */
    public static Optional<Job> stopped(Job job, int attempt, Instant now) {
        return ofAttempt(job, attempt).map(j -> cancelled(j, now));
    }

    /** Its worker says that the engine died on it. */
    public static Optional<Job> crashed(Job job, int attempt, Instant now) {
        return ofAttempt(job, attempt).map(j -> afterMishap(j, j.attempts().withCrash(), TWICE, now));
    }

    /** Its worker was silent for too long. */
    public static Optional<Job> lost(Job job, int attempt, Instant now) {
        return ofAttempt(job, attempt).map(j -> afterMishap(j, j.attempts().withLoss(), LOST, now));
    }

    /** Its worker gives it back. */
    public static Optional<Job> released(Job job, int attempt, Instant now) {
        return ofAttempt(job, attempt).map(j -> again(j, j.attempts(), now));
    }

    /** Somebody wants it cancelled. Empty when that changes nothing. */
    public static Optional<Job> cancelAsked(Job job, Instant now) {
        return switch (job.state()) {
            case QUEUED -> Optional.of(cancelled(job, now));
            case IN_PROGRESS -> job.cancelling() ? Optional.empty() : Optional.of(cancelling(job, now));
            case COMPLETED, FAILED, CANCELLED, QUARANTINED -> Optional.empty();
        };
    }

    /** Whether this attempt still has the job. */
    public static boolean holds(Job job, int attempt) {
        return job.state() == JobState.IN_PROGRESS && job.attempts().begun() == attempt;
    }

    private static Optional<Job> ofAttempt(Job job, int attempt) {
        return holds(job, attempt) ? Optional.of(job) : Optional.empty();
    }

    private static Job afterMishap(Job job, Attempts attempts, String reason, Instant now) {
        if (attempts.tooMany()) {
            Edit edit = new Edit(finished(job, JobState.QUARANTINED, Optional.of(new JobError(JobError.Code.QUARANTINED, reason)), now));
            edit.attempts = attempts;
            return edit.job();
        }
        return again(job, attempts, now);
    }

    /** Back to the queue; a cancel that was asked for is answered here, because nothing computes any more. */
    private static Job again(Job job, Attempts attempts, Instant now) {
        Edit edit = new Edit(job.cancelling() ? cancelled(job, now) : job);
        edit.attempts = attempts;
        if (!job.cancelling()) {
            edit.change(now);
            edit.state = JobState.QUEUED;
            edit.progress = JobProgress.queued(now, job.progress().outputs());
        }
        return edit.job();
    }

    private static Job cancelling(Job job, Instant now) {
        Edit edit = new Edit(job, now);
        edit.cancelling = true;
        return edit.job();
    }

    private static Job cancelled(Job job, Instant now) {
        return finished(job, JobState.CANCELLED, Optional.of(new JobError(JobError.Code.CANCELLED, "the job was cancelled")), now);
    }

    private static Job finished(Job job, JobState state, Optional<JobError> error, Instant now) {
        Edit edit = new Edit(job, now);
        edit.state = state;
        edit.error = error;
        edit.finishedAt = Optional.of(now);
        edit.expiresAt = Optional.of(now.plus(job.keep()));
        edit.cancelling = false;
        edit.progress = job.progress().at(JobStage.FINISHED, now);
        return edit.job();
    }

    /** What may change of a job; every edit with a time is one revision more. */
    private static final class Edit {
        private final Job before;
        private Instant updatedAt;
        private long revision;
        private JobState state;
        private Attempts attempts;
        private Optional<Instant> startedAt;
        private Optional<Instant> finishedAt;
        private Optional<Instant> expiresAt;
        private boolean cancelling;
        private JobProgress progress;
        private List<JobOutput> outputs;
        private Optional<JobError> error;

        Edit(Job before) {
            this.before = before;
            updatedAt = before.updatedAt();
            revision = before.revision();
            state = before.state();
            attempts = before.attempts();
            startedAt = before.startedAt();
            finishedAt = before.finishedAt();
            expiresAt = before.expiresAt();
            cancelling = before.cancelling();
            progress = before.progress();
            outputs = before.outputs();
            error = before.error();
        }

        Edit(Job before, Instant now) {
            this(before);
            change(now);
        }

        void change(Instant now) {
            updatedAt = now;
            revision++;
        }

        Job job() {
            return new Job(before.id(), state, before.request(), before.owner(), before.listed(), before.remixedFrom(), before.createdAt(), startedAt,
                    finishedAt, before.keep(), expiresAt, updatedAt, revision, attempts, cancelling, progress, outputs, error);
        }
    }
}

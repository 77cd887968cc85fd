package io.kinema.serve.api;

import io.javalin.http.Context;
import io.kinema.jobs.Job;
import io.kinema.jobs.JobError;
import io.kinema.jobs.JobId;
import io.kinema.jobs.JobState;
import io.kinema.jobs.JobStore;
import io.kinema.jobs.OutputFile;
import io.kinema.jobs.StoreUnavailableException;
import io.kinema.jobs.storage.StoredFile;
import io.kinema.serve.http.Caller;
import io.kinema.serve.http.StoredFileAnswer;
import io.kinema.serve.problem.Problem;
import io.kinema.serve.problem.ProblemKind;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * {@code POST /v1/videos/sync}: waits for the clip and answers with its bytes. The job is in no list and is removed afterwards; one that
 * takes too long, or whose server stops, is cancelled.
 */
final class VideoSync {
    private static final Duration LOOK = Duration.ofSeconds(1);
    private static final int LAST_LOOKS = 60;

    private final VideoSubmission submission;
    private final JobStore jobs;
    private final StoredFileAnswer files;
    private final Duration longest;
    /** How many calls wait for a job: one that is repeated with its idempotency key waits for that of the first. */
    private final Map<JobId, Integer> waiting = new ConcurrentHashMap<>();
    private volatile boolean stopping;

    VideoSync(VideoSubmission submission, Service service, StoredFileAnswer files) {
        this.submission = submission;
        this.jobs = service.jobs();
        this.files = files;
        this.longest = service.longestSync();
    }

    void stop() {
        stopping = true;
    }

    void create(Context call, Caller caller) throws IOException {
        Job recorded = submission.createUnlisted(call, caller, job -> waiting.merge(job.id(), 1, Integer::sum));
        boolean finished = false;
        try {
            Job job = finished(recorded);
            finished = true;
            if (job.state() != JobState.COMPLETED) {
                throw problem(job);
            }
            StoredFile file = job.output(0).flatMap(output -> output.file(OutputFile.VIDEO)).orElseThrow(() -> Problem.of(ProblemKind.FAILED,
                    "video: it was made but its file is missing"));
            call.header("Kinema-Video-Seed", Long.toString(job.outputs().getFirst().seed()));
            files.send(call, file, job.id() + ".mp4", OutputFile.VIDEO.mediaType());
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            throw stopped();
        } finally {
            boolean last = waiting.merge(recorded.id(), -1, (before, less) -> before + less == 0 ? null : before + less) == null;
            if (last) {
                remove(recorded, finished);
            }
        }
    }

    private Job finished(Job recorded) throws InterruptedException {
        long deadline = System.nanoTime() + longest.toNanos();
        Job job = recorded;
        while (!job.state().finished()) {
            if (stopping) {
                throw stopped();
            }
            if (System.nanoTime() > deadline) {
                throw Problem.of(ProblemKind.UNAVAILABLE, "video: it was not made within " + longest.toSeconds() + " s, expected a shorter one; POST /v1/videos does not wait");
            }
            job = jobs.await(job.id(), job.revision(), LOOK).orElseThrow(() -> Problem.of(ProblemKind.GONE, "video: it was deleted while it was made"));
        }
        return job;
    }

    private static Problem stopped() {
        return Problem.of(ProblemKind.UNAVAILABLE, "the server is stopping; ask again when it is back").retryAfter(10);
    }

    private static Problem problem(Job job) {
        Optional<JobError> error = job.error();
        boolean bad = error.filter(e -> e.code() == JobError.Code.BAD_REQUEST).isPresent();
        return Problem.of(bad ? ProblemKind.INVALID : ProblemKind.FAILED, "video: it is " + job.state().label() + ", "
                + error.map(JobError::message).orElse("for no reason that is known"));
    }

    /** Nobody else knows this job. One that still runs is cancelled, and removed when it has stopped or by its expiry. */
    private void remove(Job job, boolean finished) {
        if (!finished) {
            jobs.cancel(job.id());
            Thread.startVirtualThread(() -> removeLater(job));
        } else {
            jobs.delete(job.id());
        }
    }

    private void removeLater(Job job) {
        try {
            Optional<Job> now = jobs.get(job.id());
            for (int look = 0; look < LAST_LOOKS && now.isPresent() && !now.get().state().finished() && !stopping; look++) {
                now = jobs.await(job.id(), now.get().revision(), LOOK);
            }
            jobs.delete(job.id());
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        } catch (StoreUnavailableException | IllegalStateException stopped) {
            // The store is away or closed: the job goes when it expires.
        }
    }
}

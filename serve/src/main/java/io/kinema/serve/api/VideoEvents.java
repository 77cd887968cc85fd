package io.kinema.serve.api;

import io.javalin.http.Context;
import io.kinema.jobs.Job;
import io.kinema.jobs.JobState;
import io.kinema.jobs.JobStore;
import io.kinema.serve.http.Answers;
import io.kinema.serve.http.Caller;
import io.kinema.serve.problem.Problem;
import io.kinema.serve.problem.ProblemKind;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Semaphore;

/**
 * {@code GET /v1/videos/{id}/events}: server-sent events. Each {@code video} event is the video object as it has become; the stream ends
 * when it is finished, with a {@code deleted} event when it is gone.
 */
final class VideoEvents {
    private static final Duration LOOK = Duration.ofSeconds(1);
    private static final int LOOKS_BETWEEN_COMMENTS = 10;
    private static final int RETRY_SECONDS = 10;

    private final JobStore jobs;
    private final Semaphore places;
    private volatile boolean stopping;

    VideoEvents(JobStore jobs, int streams) {
        this.jobs = jobs;
        this.places = new Semaphore(streams);
    }

    /** Ends all streams within a second. */
    void stop() {
        stopping = true;
    }

    void stream(Context call, Caller caller) throws IOException {
        Job job = VideoQueries.owned(jobs, call, caller);
        if (!places.tryAcquire()) {
            throw Problem.of(ProblemKind.BUSY, "events: got one stream too many, expected fewer at once; try again or ask for the video now and then")
                    .retryAfter(RETRY_SECONDS);
        }
        try {
            call.contentType("text/event-stream").header("Cache-Control", "no-store").header("X-Accel-Buffering", "no");
            // Javalin's own stream keeps what is flushed until the answer is complete.
            follow(job, call.res().getOutputStream());
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        } finally {
            places.release();
        }
    }

    private void follow(Job first, OutputStream out) throws IOException, InterruptedException {
        write(out, "retry: 2000\n\n");
        event(out, first);
        Optional<Job> now = Optional.of(first);
        int quiet = 0;
        while (!stopping && now.isPresent() && !finished(now.get())) {
            long revision = now.get().revision();
            now = jobs.await(first.id(), revision, LOOK);
            if (now.isEmpty()) {
                write(out, "event: deleted\ndata: {\"id\":\"" + first.id() + "\"}\n\n");
            } else if (now.get().revision() != revision) {
                event(out, now.get());
                quiet = 0;
            } else if (++quiet % LOOKS_BETWEEN_COMMENTS == 0) {
                write(out, ": still here\n\n");
            }
        }
    }

    private static boolean finished(Job job) {
        return job.state().finished();
    }

    private static void event(OutputStream out, Job job) throws IOException {
        String data = new String(Answers.bytes(VideoJson.of(job)), StandardCharsets.UTF_8);
        write(out, "event: video\nid: " + job.revision() + "\ndata: " + data + "\n\n");
    }

    private static void write(OutputStream out, String text) throws IOException {
        out.write(text.getBytes(StandardCharsets.UTF_8));
        out.flush();
    }
}

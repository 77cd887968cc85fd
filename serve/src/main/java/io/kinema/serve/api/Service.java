package io.kinema.serve.api;

import io.kinema.engine.forecast.Rates;
import io.kinema.jobs.JobService;
import io.kinema.jobs.JobStore;
import io.kinema.jobs.storage.OutputStorage;
import io.kinema.serve.problem.FailureLog;
import io.kinema.serve.body.BodyReader;
import io.kinema.serve.request.Offer;
import io.kinema.serve.request.VideoCalls;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Supplier;

/**
 * All that the routes work with.
 *
 * @param queue        jobs, their files, and the worker of this process
 * @param offer        model and adapters
 * @param bodies       reads bodies
 * @param calls        makes requests of them
 * @param staging      folder for the files of calls
 * @param rates        what this machine measured before
 * @param longestSync  how long {@code POST /v1/videos/sync} waits
 * @param patience     how long a client may take to read a small file
 * @param eventStreams most streams of events at once
 * @param log          hears failures
 */
public record Service(JobService queue, Offer offer, BodyReader bodies, VideoCalls calls, Path staging, Supplier<Rates> rates,
                      Duration longestSync, Duration patience, int eventStreams, FailureLog log) {
    JobStore jobs() {
        return queue.jobs();
    }

    OutputStorage storage() {
        return queue.storage();
    }
}

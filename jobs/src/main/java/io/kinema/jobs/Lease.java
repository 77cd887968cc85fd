package io.kinema.jobs;

import java.util.Objects;

/**
 * A worker's right to work on a job. It ends when the job is taken from it, for example because the worker was silent for too
 * long; whatever it reports afterwards is refused.
 *
 * @param job     as it stood when the attempt began
 * @param attempt number of the attempt, from 1
 */
public record Lease(Job job, int attempt) {
    public Lease {
        Objects.requireNonNull(job, "job");
    }
}

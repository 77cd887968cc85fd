package io.kinema.jobs;

import java.util.Objects;
import java.util.Optional;

/**
 * What a worker does.
 *
 * @param state    whether it takes jobs
 * @param job      what it works on
 * @param restarts how often its engine process was started again after it had died
 */
public record WorkerStatus(State state, Optional<JobId> job, long restarts) {
    /** Whether a worker takes jobs. */
    public enum State {
        /** This process has none: others run the jobs. */
        NONE,
        /** It starts its engine process. */
        STARTING,
        /** It waits for a job. */
        IDLE,
        /** It works on one. */
        BUSY,
        /** It finishes and takes none any more. */
        DRAINING,
        /** Its engine process does not start. */
        BROKEN
    }

    public WorkerStatus {
        Objects.requireNonNull(state, "state");
        Objects.requireNonNull(job, "job");
    }

    /** True when jobs that are submitted now will be run, as far as this process knows. */
    public boolean ready() {
        return switch (state) {
            case NONE, IDLE, BUSY -> true;
            case STARTING, DRAINING, BROKEN -> false;
        };
    }
}

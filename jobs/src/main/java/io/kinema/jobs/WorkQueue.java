package io.kinema.jobs;

import java.util.Optional;

/**
 * The jobs, as a worker sees them. A method that reports on a {@link Lease} returns false when the lease has ended: then another
 * worker has the job, or it is gone, and this one must drop it without a trace.
 */
public interface WorkQueue {
    /** Begins an attempt: the job is {@link JobState#IN_PROGRESS} afterwards. Empty when it no longer waits. */
    Optional<Lease> begin(JobId id);

    /**
     * {@link #begin} for a caller who knows that no other worker has the job, because the scheduler says so: an attempt that is still under
     * way was lost with its worker, and is counted so.
     */
    Optional<Lease> takeOver(JobId id);

    /** Takes the job from a worker that was silent for too long: it waits again; after the fifth time it is quarantined. */
    boolean lost(JobId id, int attempt);

    /** Reports how far it is. */
    boolean progress(Lease lease, JobProgress progress);

    /** Lists an output whose files are stored. */
    boolean output(Lease lease, JobOutput output);

    /** True when the job should be stopped: a cancel was asked for. Also true when the lease has ended. */
    boolean shouldStop(Lease lease);

    /** Ends the attempt: all outputs are stored. */
    boolean complete(Lease lease);

    /** Ends the attempt with an error that another attempt would meet again. */
    boolean fail(Lease lease, JobError error);

    /** Ends the attempt because the job was cancelled and the device is idle. */
    boolean cancelled(Lease lease);

    /**
     * Ends the attempt because the engine died or hung on it. The job waits again, first in the queue; after the second time it is
     * {@link JobState#QUARANTINED}.
     */
    boolean crashed(Lease lease);

    /** Gives the job back unharmed, because the worker is told to stop: it waits again, first in the queue. */
    boolean release(Lease lease);
}

package io.kinema.jobs;

import java.time.Duration;
import java.util.Optional;

/**
 * The jobs, as whoever submits and watches them sees them. Any number of threads may use it, virtual ones too.
 *
 * <p>Every method may throw {@link StoreUnavailableException}, after having tried for a few seconds.
 */
public interface JobStore {
    /**
     * Records a job. When this returns, the job and its inputs are stored durably and a worker will make it, whatever happens to
     * this process.
     *
     * @return the new job, {@link JobState#QUEUED}; or the earlier one of the same idempotency key, in whatever state
     * @throws QueueFullException           when too many jobs wait
     * @throws IdempotencyConflictException when the key was used for another request
     * @throws io.kinema.jobs.storage.StorageException when an input cannot be stored
     */
    Submitted submit(Submission submission);

    /** The job as it stands. */
    Optional<Job> get(JobId id);

    /** Some of the jobs. @throws UnknownJobException when the job that the page should follow is not there */
    JobPage list(JobQuery query);

    /**
     * Cancels a job. A queued one is {@link JobState#CANCELLED} at once. One in progress is {@link Job#cancelling} until its worker
     * has stopped, within one step, and is cancelled then; or finishes, when it was that far. A finished one stays as it is.
     *
     * @return the job afterwards; empty when there is none
     */
    Optional<Job> cancel(JobId id);

    /** Removes a job with all its files, unless it is in progress. A queued one will never run. */
    Deletion delete(JobId id);

    /**
     * Waits until a job is newer than a revision. Made for server-sent events: call it again with the revision of the job it
     * returned.
     *
     * @param revision 0 returns at once
     * @return the job; the same revision again when nothing changed for as long as {@code longest}; empty when it is gone
     * @throws InterruptedException when the waiting thread is interrupted
     */
    Optional<Job> await(JobId id, long revision, Duration longest) throws InterruptedException;

    /** How many jobs there are. */
    QueueCounts counts();
}

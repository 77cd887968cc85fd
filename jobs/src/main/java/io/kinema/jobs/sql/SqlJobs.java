package io.kinema.jobs.sql;

import io.kinema.engine.GenerateRequest;
import io.kinema.jobs.Deletion;
import io.kinema.jobs.IdempotencyConflictException;
import io.kinema.jobs.Job;
import io.kinema.jobs.JobError;
import io.kinema.jobs.JobFiles;
import io.kinema.jobs.JobId;
import io.kinema.jobs.JobInputs;
import io.kinema.jobs.JobLimits;
import io.kinema.jobs.JobOutput;
import io.kinema.jobs.JobPage;
import io.kinema.jobs.JobProgress;
import io.kinema.jobs.JobQuery;
import io.kinema.jobs.JobRequest;
import io.kinema.jobs.JobState;
import io.kinema.jobs.JobStore;
import io.kinema.jobs.JobTransitions;
import io.kinema.jobs.Lease;
import io.kinema.jobs.QueueCounts;
import io.kinema.jobs.QueueFullException;
import io.kinema.jobs.RequestFingerprint;
import io.kinema.jobs.RetryAfter;
import io.kinema.jobs.Submission;
import io.kinema.jobs.Submitted;
import io.kinema.jobs.UnknownJobException;
import io.kinema.jobs.WorkQueue;
import io.kinema.jobs.storage.OutputStorage;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiFunction;

/**
 * Jobs in an SQL database. Every change is a {@link JobTransitions} of the job's locked row, in one transaction with what the scheduler
 * must know of it. The database and the storage stay the caller's.
 */
public final class SqlJobs implements JobStore, WorkQueue {
    /** How soon a waiting reader sees a change that another process made. */
    private static final Duration POLL_SHARED = Duration.ofMillis(250);
    /** All changes of an embedded database are made here and signalled; this is for the lost ones. */
    private static final Duration POLL_EMBEDDED = Duration.ofSeconds(5);

    private final Database database;
    private final OutputStorage storage;
    private final JobLimits limits;
    private final InstantSource clock;
    private final JobSignals signals = new JobSignals();
    private final ReentrantLock recording = new ReentrantLock(true);

    public SqlJobs(Database database, OutputStorage storage, JobLimits limits, InstantSource clock) {
        this.database = database;
        this.storage = storage;
        this.limits = limits;
        this.clock = clock;
    }

    /**
     * Takes every job from workers that are gone, at once. For a caller who knows that nobody else uses the database: whoever worked on a job
     * was this process, in an earlier life.
     */
    public void recoverAlone() {
        List<Job> left = database.transaction("looking for interrupted jobs", c -> {
            try (Statement statement = c.createStatement()) {
                statement.executeUpdate("update " + JobTasks.TABLE + " set picked = false, picked_by = null, last_heartbeat = null, version = version + 1 where picked");
            }
            return JobRows.inProgress(c);
        });
        left.forEach(job -> lost(job.id(), job.attempts().begun()));
    }

    private Instant now() {
        return Times.whole(clock.instant());
    }

    @Override
    public Submitted submit(Submission submission) {
        Optional<String> fingerprint = submission.idempotencyKey().map(key -> RequestFingerprint.of(submission));
        if (JobInputs.any(submission.generate())) {
            // Looked at twice: here so that no inputs are stored for a job that is not taken, and again under the queue's lock.
            Optional<Submitted> early = database.transaction("looking at the queue", c -> earlierOrRoom(c, submission, fingerprint));
            if (early.isPresent()) {
                return early.get();
            }
        }
        JobId id = JobId.random();
        GenerateRequest stored = JobInputs.store(id, submission.generate(), storage);
        JobRequest request = new JobRequest(submission.model(), stored, submission.details());
        Submitted submitted;
        try {
            submitted = recorded(id, submission, request, fingerprint);
        } catch (QueueFullException | IdempotencyConflictException refused) {
            storage.deleteAll(JobFiles.inputs(id));
            throw refused;
        }
        database.force();
        if (submitted.repeated()) {
            storage.deleteAll(JobFiles.inputs(id));
        }
        return submitted;
    }

    /** Threads of this process take turns before they ask for a connection: the queue's row lets only one through, and the others need none to wait with. */
    private Submitted recorded(JobId id, Submission submission, JobRequest request, Optional<String> fingerprint) {
        recording.lock();
        try {
            return database.transaction("recording the job", c -> record(c, id, submission, request, fingerprint));
        } finally {
            recording.unlock();
        }
    }

    private Submitted record(Connection connection, JobId id, Submission submission, JobRequest request, Optional<String> fingerprint) throws SQLException {
        long place = lockQueue(connection) + 1;
        Optional<Job> recorded = JobRows.find(connection, id);
        if (recorded.isPresent()) {
            // The first try was committed and only its answer was lost.
            return new Submitted(recorded.get(), false);
        }
        Optional<Submitted> earlier = earlierOrRoom(connection, submission, fingerprint);
        if (earlier.isPresent()) {
            return earlier.get();
        }
        Job job = JobTransitions.recorded(id, submission, request, limits.keep(), now());
        JobRows.insert(connection, job, place, submission, fingerprint);
        JobTasks.schedule(connection, id, request.model(), place);
        try (PreparedStatement update = connection.prepareStatement("update kinema_queue set last_place = ? where id = 1")) {
            update.setLong(1, place);
            update.executeUpdate();
        }
        return new Submitted(job, false);
    }

    /** @return the last place given away; nobody else gives one away until the transaction ends */
    private static long lockQueue(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("select last_place from kinema_queue where id = 1 for update")) {
            rows.next();
            return rows.getLong(1);
        }
    }

    /** The job of the same key; else makes sure that there is room. */
    private Optional<Submitted> earlierOrRoom(Connection connection, Submission submission, Optional<String> fingerprint) throws SQLException {
        if (submission.idempotencyKey().isPresent()) {
            Optional<Map.Entry<Job, String>> earlier = JobRows.withKey(connection, submission.owner(), submission.idempotencyKey().get());
            if (earlier.isPresent()) {
                if (!earlier.get().getValue().equals(fingerprint.orElse(""))) {
                    throw new IdempotencyConflictException();
                }
                return Optional.of(new Submitted(earlier.get().getKey(), true));
            }
        }
        if (JobRows.queued(connection, Optional.empty()) >= limits.queued()) {
            throw new QueueFullException(QueueFullException.Scope.ALL, limits.queued(), RetryAfter.of(JobRows.meanDuration(connection)));
        }
        if (JobRows.queued(connection, Optional.of(JobRows.ownerKey(submission.owner()))) >= limits.queuedPerOwner()) {
            throw new QueueFullException(QueueFullException.Scope.OWNER, limits.queuedPerOwner(), RetryAfter.of(JobRows.meanDuration(connection)));
        }
        return Optional.empty();
    }

    @Override
    public Optional<Job> get(JobId id) {
        return database.transaction("reading the job", c -> JobRows.find(c, id));
    }

    @Override
    public JobPage list(JobQuery query) {
        return database.transaction("listing jobs", c -> {
            Optional<Long> after = Optional.empty();
            if (query.after().isPresent()) {
                after = JobRows.place(c, query.after().get());
                if (after.isEmpty()) {
                    throw new UnknownJobException(query.after().get());
                }
            }
            List<Job> jobs = JobRows.page(c, query, after, query.limit() + 1);
            return new JobPage(jobs.subList(0, Math.min(query.limit(), jobs.size())), jobs.size() > query.limit());
        });
    }

    @Override
    public QueueCounts counts() {
        return database.transaction("counting jobs", c -> new QueueCounts(JobRows.counts(c)));
    }

    @Override
    public Optional<Job> await(JobId id, long revision, Duration longest) throws InterruptedException {
        long deadline = System.nanoTime() + longest.toNanos();
        Duration poll = database.url().embedded() ? POLL_EMBEDDED : POLL_SHARED;
        try (JobSignals.Ear ear = signals.listen(id)) {
            while (true) {
                Optional<Long> current = database.transaction("reading the job", c -> JobRows.revision(c, id));
                long left = deadline - System.nanoTime();
                if (current.isEmpty() || current.get() > revision || left <= 0) {
                    return get(id);
                }
                ear.await(Duration.ofNanos(Math.min(left, poll.toNanos())));
            }
        }
    }

    @Override
    public Optional<Job> cancel(JobId id) {
        change("cancelling the job", id, JobTransitions::cancelAsked);
        return get(id);
    }

    @Override
    public Deletion delete(JobId id) {
        Deletion deletion = database.transaction("deleting the job", c -> {
            Optional<Job> job = JobRows.lock(c, id);
            if (job.isEmpty() || job.get().state() == JobState.IN_PROGRESS) {
                return job.isEmpty() ? Deletion.UNKNOWN : Deletion.IN_PROGRESS;
            }
            JobRows.delete(c, id);
            JobTasks.remove(c, id, job.get().request().model());
            return Deletion.DELETED;
        });
        if (deletion == Deletion.DELETED) {
            signals.changed(id);
            JobFiles.deleteAll(storage, id);
        }
        return deletion;
    }

    /** Applies a transition to the job's locked row. @return the job afterwards; empty when it did not apply */
    private Optional<Job> change(String what, JobId id, BiFunction<Job, Instant, Optional<Job>> transition) {
        Optional<Job> changed = database.transaction(what, c -> {
            Optional<Job> after = JobRows.lock(c, id).flatMap(job -> transition.apply(job, now()));
            if (after.isPresent()) {
                JobRows.update(c, after.get());
                if (after.get().state().finished()) {
                    JobTasks.remove(c, id, after.get().request().model());
                }
            }
            return after;
        });
        changed.ifPresent(job -> {
            signals.changed(id);
            if (job.state().finished()) {
                database.force();
            }
        });
        return changed;
    }

    private boolean report(String what, Lease lease, BiFunction<Job, Instant, Optional<Job>> transition) {
        return change(what, lease.job().id(), transition).isPresent();
    }

    @Override
    public Optional<Lease> begin(JobId id) {
        return change("beginning the job", id, JobTransitions::begun).map(job -> new Lease(job, job.attempts().begun()));
    }

    @Override
    public Optional<Lease> takeOver(JobId id) {
        Optional<Job> job = get(id);
        while (job.isPresent() && !job.get().state().finished()) {
            job.filter(j -> j.state() == JobState.IN_PROGRESS).ifPresent(j -> lost(id, j.attempts().begun()));
            Optional<Lease> lease = begin(id);
            if (lease.isPresent()) {
                return lease;
            }
            // Begun, and the answer of the database was lost: nobody would ever work on that attempt.
            job = get(id);
        }
        return Optional.empty();
    }

    @Override
    public boolean lost(JobId id, int attempt) {
        return change("giving up a lost worker", id, (job, now) -> JobTransitions.lost(job, attempt, now)).isPresent();
    }

    @Override
    public boolean progress(Lease lease, JobProgress progress) {
        return report("reporting progress", lease, (job, now) -> JobTransitions.advanced(job, lease.attempt(), progress, now));
    }

    @Override
    public boolean output(Lease lease, JobOutput output) {
        return report("listing an output", lease, (job, now) -> JobTransitions.withOutput(job, lease.attempt(), output, now));
    }

    @Override
    public boolean shouldStop(Lease lease) {
        return get(lease.job().id()).map(job -> job.cancelling() || !JobTransitions.holds(job, lease.attempt())).orElse(true);
    }

    @Override
    public boolean complete(Lease lease) {
        return report("completing the job", lease, (job, now) -> JobTransitions.completed(job, lease.attempt(), now));
    }

    @Override
    public boolean fail(Lease lease, JobError error) {
        return report("failing the job", lease, (job, now) -> JobTransitions.failed(job, lease.attempt(), error, now));
    }

    @Override
    public boolean cancelled(Lease lease) {
        return report("cancelling the job", lease, (job, now) -> JobTransitions.stopped(job, lease.attempt(), now));
    }

    @Override
    public boolean crashed(Lease lease) {
        return report("recording a crash", lease, (job, now) -> JobTransitions.crashed(job, lease.attempt(), now));
    }

    @Override
    public boolean release(Lease lease) {
        return report("releasing the job", lease, (job, now) -> JobTransitions.released(job, lease.attempt(), now));
    }
}

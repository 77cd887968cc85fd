package io.kinema.jobs.memory;

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
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiFunction;

/**
 * Jobs on the heap: the same promises as a database's, except that a restart forgets them and that finished ones stay until they
 * are deleted. Inputs and outputs lie in the storage given, which the caller closes. Any number of threads may use it.
 */
public final class InMemoryJobs implements JobStore, WorkQueue {
    /** @param key whose job it is and its idempotency key, with the request that came with it */
    private record Key(String key, String fingerprint) {
    }

    private final JobLimits limits;
    private final OutputStorage storage;
    private final InstantSource clock;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    /** In the order of their recording, which is the order of their turn. */
    private final Map<JobId, Job> jobs = new LinkedHashMap<>();
    private final Map<JobId, Key> keys = new LinkedHashMap<>();

    public InMemoryJobs(JobLimits limits, OutputStorage storage, InstantSource clock) {
        this.limits = limits;
        this.storage = storage;
        this.clock = clock;
    }

    @Override
    public Submitted submit(Submission submission) {
        Optional<Key> key = submission.idempotencyKey()
                .map(k -> new Key(submission.owner().orElse("") + "\n" + k, RequestFingerprint.of(submission)));
        lock.lock();
        try {
            Optional<Job> earlier = key.flatMap(this::earlier);
            if (earlier.isPresent()) {
                return new Submitted(earlier.get(), true);
            }
            requireRoom(submission.owner());
            JobId id = JobId.random();
            GenerateRequest stored = JobInputs.store(id, submission.generate(), storage);
            Job job = JobTransitions.recorded(id, submission, new JobRequest(submission.model(), stored, submission.details()),
                    limits.keep(), clock.instant());
            jobs.put(id, job);
            key.ifPresent(k -> keys.put(id, k));
            changed.signalAll();
            return new Submitted(job, false);
        } finally {
            lock.unlock();
        }
    }

    private Optional<Job> earlier(Key key) {
        for (Map.Entry<JobId, Key> entry : keys.entrySet()) {
            if (entry.getValue().key().equals(key.key())) {
                if (!entry.getValue().fingerprint().equals(key.fingerprint())) {
                    throw new IdempotencyConflictException();
                }
                return Optional.of(jobs.get(entry.getKey()));
            }
        }
        return Optional.empty();
    }

    private void requireRoom(Optional<String> owner) {
        List<Job> waiting = jobs.values().stream().filter(job -> job.state() == JobState.QUEUED).toList();
        if (waiting.size() >= limits.queued()) {
            throw new QueueFullException(QueueFullException.Scope.ALL, limits.queued(), RetryAfter.of(Duration.ZERO));
        }
        if (waiting.stream().filter(job -> job.owner().equals(owner)).count() >= limits.queuedPerOwner()) {
            throw new QueueFullException(QueueFullException.Scope.OWNER, limits.queuedPerOwner(), RetryAfter.of(Duration.ZERO));
        }
    }

    /** The job whose turn it is. */
    public Optional<JobId> next() {
        lock.lock();
        try {
            return jobs.values().stream().filter(job -> job.state() == JobState.QUEUED).map(Job::id).findFirst();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public Optional<Job> get(JobId id) {
        lock.lock();
        try {
            return Optional.ofNullable(jobs.get(id));
        } finally {
            lock.unlock();
        }
    }

    @Override
    public JobPage list(JobQuery query) {
        lock.lock();
        try {
            List<Job> shown = new ArrayList<>(jobs.values());
            if (query.order() == JobQuery.Order.NEWEST_FIRST) {
                shown = shown.reversed();
            }
            if (query.after().isPresent()) {
                Job last = Optional.ofNullable(jobs.get(query.after().get())).orElseThrow(() -> new UnknownJobException(query.after().get()));
                shown = shown.subList(shown.indexOf(last) + 1, shown.size());
            }
            shown = shown.stream().filter(Job::listed).filter(job -> query.owner().isEmpty() || query.owner().equals(job.owner())).toList();
            return new JobPage(shown.subList(0, Math.min(query.limit(), shown.size())), shown.size() > query.limit());
        } finally {
            lock.unlock();
        }
    }

    @Override
    public Optional<Job> cancel(JobId id) {
        change(id, JobTransitions::cancelAsked);
        return get(id);
    }

    private boolean change(JobId id, BiFunction<Job, Instant, Optional<Job>> transition) {
        lock.lock();
        try {
            Optional<Job> after = Optional.ofNullable(jobs.get(id)).flatMap(job -> transition.apply(job, clock.instant()));
            after.ifPresent(job -> {
                jobs.put(id, job);
                changed.signalAll();
            });
            return after.isPresent();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public Deletion delete(JobId id) {
        lock.lock();
        try {
            Job job = jobs.get(id);
            if (job == null) {
                return Deletion.UNKNOWN;
            }
            if (job.state() == JobState.IN_PROGRESS) {
                return Deletion.IN_PROGRESS;
            }
            jobs.remove(id);
            keys.remove(id);
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        JobFiles.deleteAll(storage, id);
        return Deletion.DELETED;
    }

    @Override
    public Optional<Job> await(JobId id, long revision, Duration longest) throws InterruptedException {
        long left = longest.toNanos();
        lock.lock();
        try {
            while (jobs.containsKey(id) && jobs.get(id).revision() <= revision && left > 0) {
                left = changed.awaitNanos(left);
            }
            return Optional.ofNullable(jobs.get(id));
        } finally {
            lock.unlock();
        }
    }

    /** Waits until a job waits for a worker. @return its id; empty when none came */
    public Optional<JobId> awaitNext(Duration longest) throws InterruptedException {
        long left = longest.toNanos();
        lock.lock();
        try {
            while (next().isEmpty() && left > 0) {
                left = changed.awaitNanos(left);
            }
            return next();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public QueueCounts counts() {
        lock.lock();
        try {
            Map<JobState, Long> counts = new EnumMap<>(JobState.class);
            for (JobState state : JobState.values()) {
                counts.put(state, jobs.values().stream().filter(job -> job.state() == state).count());
            }
            return new QueueCounts(counts);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public Optional<Lease> begin(JobId id) {
        return change(id, JobTransitions::begun) ? get(id).map(job -> new Lease(job, job.attempts().begun())) : Optional.empty();
    }

    @Override
    public Optional<Lease> takeOver(JobId id) {
        get(id).filter(job -> job.state() == JobState.IN_PROGRESS).ifPresent(job -> lost(id, job.attempts().begun()));
        return begin(id);
    }

    @Override
    public boolean lost(JobId id, int attempt) {
        return change(id, (job, now) -> JobTransitions.lost(job, attempt, now));
    }

    @Override
    public boolean progress(Lease lease, JobProgress progress) {
        return change(lease.job().id(), (job, now) -> JobTransitions.advanced(job, lease.attempt(), progress, now));
    }

    @Override
    public boolean output(Lease lease, JobOutput output) {
        return change(lease.job().id(), (job, now) -> JobTransitions.withOutput(job, lease.attempt(), output, now));
    }

    @Override
    public boolean shouldStop(Lease lease) {
        return get(lease.job().id()).map(job -> job.cancelling() || !JobTransitions.holds(job, lease.attempt())).orElse(true);
    }

    @Override
    public boolean complete(Lease lease) {
        return change(lease.job().id(), (job, now) -> JobTransitions.completed(job, lease.attempt(), now));
    }

    @Override
    public boolean fail(Lease lease, JobError error) {
        return change(lease.job().id(), (job, now) -> JobTransitions.failed(job, lease.attempt(), error, now));
    }

    @Override
    public boolean cancelled(Lease lease) {
        return change(lease.job().id(), (job, now) -> JobTransitions.stopped(job, lease.attempt(), now));
    }

    @Override
    public boolean crashed(Lease lease) {
        return change(lease.job().id(), (job, now) -> JobTransitions.crashed(job, lease.attempt(), now));
    }

    @Override
    public boolean release(Lease lease) {
        return change(lease.job().id(), (job, now) -> JobTransitions.released(job, lease.attempt(), now));
    }
}

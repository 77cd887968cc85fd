package io.kinema.jobs.worker;

import io.kinema.jobs.JobError;
import io.kinema.jobs.JobFiles;
import io.kinema.jobs.JobId;
import io.kinema.jobs.Lease;
import io.kinema.jobs.StoreUnavailableException;
import io.kinema.jobs.WorkQueue;
import io.kinema.jobs.WorkerStatus;
import io.kinema.jobs.process.EngineProcess;
import io.kinema.jobs.storage.OutputStorage;
import io.kinema.jobs.storage.StorageException;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * Owns an engine process, started when it is first needed and again when it has died, until it is closed. Makes one job at a time with
 * it. Closing twice is harmless.
 */
public final class Worker implements AutoCloseable {
    private static final Duration BETWEEN_STARTS = Duration.ofSeconds(2);

    private final WorkQueue queue;
    private final OutputStorage storage;
    private final WorkerOptions options;
    private final InstantSource clock;
    private final WorkFolder work;
    private Optional<EngineProcess> engine = Optional.empty();
    private boolean closed;
    private long starts;
    private volatile WorkerStatus status = new WorkerStatus(WorkerStatus.State.IDLE, Optional.empty(), 0);
    /** When the running job must be given back; empty while the worker may work. */
    private volatile Optional<Long> releaseAt = Optional.empty();

    /** @throws java.io.UncheckedIOException when the work folder cannot be written */
    public Worker(WorkQueue queue, OutputStorage storage, WorkerOptions options, InstantSource clock) {
        this.queue = queue;
        this.storage = storage;
        this.options = options;
        this.clock = clock;
        this.work = WorkFolder.claim(options.workFolder());
    }

    /** What it does. */
    public WorkerStatus status() {
        return status;
    }

    /** The engine process, for tests that kill it. */
    Optional<ProcessHandle> engineProcess() {
        synchronized (this) {
            return engine.flatMap(e -> ProcessHandle.of(e.pid()));
        }
    }

    /**
     * Takes no job any more: the running one may finish for a while, then it is given back with its last saved step.
     *
     * @return at once
     */
    public void drain() {
        releaseAt = Optional.of(System.nanoTime() + options.times().drain().toNanos());
        show(WorkerStatus.State.DRAINING, status.job());
    }

    /**
     * Makes a job that the scheduler has given to this worker alone.
     *
     * @return what the job needs next
     */
    public Turn make(JobId id) throws InterruptedException {
        if (releaseAt.isPresent()) {
            return Turn.WAITS;
        }
        try {
            // First the engine: a job is not touched by a worker that could not make it.
            Optional<EngineProcess> ready = started();
            if (ready.isEmpty()) {
                Thread.sleep(BETWEEN_STARTS);
                return Turn.WAITS;
            }
            Optional<Lease> lease = queue.takeOver(id);
            return lease.isPresent() ? make(lease.get(), ready.get()) : Turn.OVER;
        } catch (StoreUnavailableException away) {
            return Turn.WAITS;
        } finally {
            rest();
        }
    }

    private void rest() {
        if (releaseAt.isPresent()) {
            show(WorkerStatus.State.DRAINING, Optional.empty());
        } else if (status.state() != WorkerStatus.State.BROKEN) {
            show(WorkerStatus.State.IDLE, Optional.empty());
        }
    }

    private Turn make(Lease lease, EngineProcess running) throws InterruptedException {
        JobId id = lease.job().id();
        show(WorkerStatus.State.BUSY, Optional.of(id));
        try {
            return end(lease, new JobRun(lease, queue, storage, running, options, work.make(id.value()), () -> releaseAt, clock).run());
        } catch (IOException e) {
            return end(lease, new JobRun.End.Failed(new JobError(JobError.Code.STORAGE_FAILED,
                    "the worker has no room for the files of this job; free some space and ask again")));
        } catch (RuntimeException | InterruptedException e) {
            // Whatever went wrong here, the engine must not go on with a job that nobody watches.
            running.close();
            if (e instanceof InterruptedException interrupted) {
                throw interrupted;
            }
            return end(lease, new JobRun.End.Failed(new JobError(JobError.Code.GENERATION_FAILED, "the worker failed on this job")));
        } finally {
            work.delete(id.value());
        }
    }

    private Turn end(Lease lease, JobRun.End end) throws InterruptedException {
        return switch (end) {
            case JobRun.End.Completed _ -> over(lease, () -> queue.complete(lease));
            case JobRun.End.Failed failed -> over(lease, () -> queue.fail(lease, failed.error()));
            case JobRun.End.Stopped _ -> over(lease, () -> queue.cancelled(lease));
            case JobRun.End.Released _ -> {
                Patience.untilStored(() -> queue.release(lease));
                yield Turn.WAITS;
            }
            case JobRun.End.Crashed _ -> {
                Patience.untilStored(() -> queue.crashed(lease));
                yield Turn.RETRY;
            }
        };
    }

    private Turn over(Lease lease, BooleanSupplier report) throws InterruptedException {
        // Of a lease that has ended, the job and its saved steps are another worker's.
        if (Patience.untilStored(report)) {
            forgetSteps(lease.job().id());
        }
        return Turn.OVER;
    }

    private void forgetSteps(JobId id) {
        try {
            storage.deleteAll(JobFiles.steps(id));
        } catch (StorageException away) {
            // It goes with the job.
        }
    }

    /** The engine process, ready for an order; empty when it does not start. */
    private Optional<EngineProcess> started() throws InterruptedException {
        synchronized (this) {
            if (!closed && engine.isPresent() && engine.get().alive() && engine.get().silence().compareTo(options.times().silence()) < 0) {
                return engine;
            }
        }
        show(WorkerStatus.State.STARTING, Optional.empty());
        try {
            return adopt(EngineProcess.start(options.launcher(), options.times().start()));
        } catch (IOException doesNotStart) {
            show(WorkerStatus.State.BROKEN, Optional.empty());
            return Optional.empty();
        }
    }

    private synchronized Optional<EngineProcess> adopt(EngineProcess fresh) {
        if (closed) {
            fresh.close();
            return Optional.empty();
        }
        engine.ifPresent(EngineProcess::close);
        engine = Optional.of(fresh);
        starts++;
        return engine;
    }

    private void show(WorkerStatus.State state, Optional<JobId> job) {
        status = new WorkerStatus(state, job, Math.max(0, starts - 1));
    }

    @Override
    public void close() {
        synchronized (this) {
            closed = true;
            engine.ifPresent(EngineProcess::close);
        }
        work.close();
    }
}

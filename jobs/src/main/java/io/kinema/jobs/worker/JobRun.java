package io.kinema.jobs.worker;

import io.kinema.engine.GenerateRequest;
import io.kinema.jobs.JobError;
import io.kinema.jobs.JobFiles;
import io.kinema.jobs.JobId;
import io.kinema.jobs.JobInputs;
import io.kinema.jobs.JobOutput;
import io.kinema.jobs.JobProgress;
import io.kinema.jobs.JobStage;
import io.kinema.jobs.Lease;
import io.kinema.jobs.OutputFile;
import io.kinema.jobs.StoreUnavailableException;
import io.kinema.jobs.WorkQueue;
import io.kinema.jobs.process.EngineOrder;
import io.kinema.jobs.process.EngineProcess;
import io.kinema.jobs.process.EngineReport;
import io.kinema.jobs.storage.OutputStorage;
import io.kinema.jobs.storage.StorageException;
import io.kinema.jobs.storage.StoredFile;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/** One attempt at one job, on one thread: from the files of its inputs to those of its outputs. */
final class JobRun {
    private static final Duration BETWEEN_REPORTS = Duration.ofMillis(100);
    private static final Duration BETWEEN_STORAGE_TRIES = Duration.ofMillis(500);

    /** How an attempt ended. */
    sealed interface End {
        record Completed() implements End {
        }

        record Failed(JobError error) implements End {
        }

        /** It was cancelled, or the lease has ended, and the engine is idle. */
        record Stopped() implements End {
        }

        /** It was given back. */
        record Released() implements End {
        }

        /** The engine process died or hung. */
        record Crashed(String lastWords) implements End {
        }
    }

    private final Lease lease;
    private final WorkQueue queue;
    private final OutputStorage storage;
    private final EngineProcess engine;
    private final WorkerOptions options;
    private final Path folder;
    private final Supplier<Optional<Long>> releaseAt;
    private final InstantSource clock;

    private JobProgress progress;
    private boolean told = true;
    private long toldAt = System.nanoTime() - BETWEEN_REPORTS.toNanos();
    private long movedAt = System.nanoTime();
    private long askedAt = System.nanoTime();
    private long lookedAt = System.nanoTime();
    private boolean cancelling;
    private Optional<Long> releasingSince = Optional.empty();

    /**
     * @param folder    empty, its own
     * @param releaseAt when the job must be given back, by {@link System#nanoTime}; empty while the worker may work
     */
    JobRun(Lease lease, WorkQueue queue, OutputStorage storage, EngineProcess engine, WorkerOptions options, Path folder,
           Supplier<Optional<Long>> releaseAt, InstantSource clock) {
        this.lease = lease;
        this.queue = queue;
        this.storage = storage;
        this.engine = engine;
        this.options = options;
        this.folder = folder;
        this.releaseAt = releaseAt;
        this.clock = clock;
        this.progress = lease.job().progress();
    }

    private JobId id() {
        return lease.job().id();
    }

    End run() throws InterruptedException {
        Path steps = folder.resolve("steps.safetensors");
        try (StepKeeping keeping = new StepKeeping(storage, JobFiles.steps(id()), steps)) {
            return run(steps, keeping);
        }
    }

    private End run(Path steps, StepKeeping keeper) throws InterruptedException {
        try {
            stage(JobStage.FETCHING_INPUTS);
            GenerateRequest request = insist(() -> JobInputs.fetch(lease.job(), storage, folder));
            insist(() -> fetchSteps(steps));
            engine.order(new EngineOrder.Run(request, folder, steps, options.saveEvery(), lease.job().outputs().size()));
        } catch (StorageException e) {
            return withoutStorage(e);
        } catch (IOException gone) {
            return follow(keeper, Optional.of(gone));
        }
        return follow(keeper, Optional.empty());
    }

    /** Looks again after every failure: saved steps may be gone by then, and a job begins anew without them. @return whether there are any */
    private boolean fetchSteps(Path target) {
        boolean saved = storage.find(JobFiles.steps(id())).isPresent();
        if (saved) {
            storage.fetch(JobFiles.steps(id()), target);
        }
        return saved;
    }

    private End follow(StepKeeping keeper, Optional<IOException> orderLost) throws InterruptedException {
        while (true) {
            Optional<EngineReport> report = engine.next(told ? options.times().poll() : BETWEEN_REPORTS);
            if (report.isPresent()) {
                movedAt = System.nanoTime();
                Optional<End> end = hear(report.get(), keeper);
                if (end.isPresent()) {
                    tellLast();
                    return end.get();
                }
            } else if (orderLost.isPresent() && !engine.alive()) {
                return new End.Crashed(orderLost.get().getMessage());
            }
            tellIfDue();
            stopIfAsked();
            killIfHung();
        }
    }

    private Optional<End> hear(EngineReport report, StepKeeping keeper) throws InterruptedException {
        switch (report) {
            case EngineReport.Ready _, EngineReport.Alive _ -> { }
            case EngineReport.StageBegan began -> stage(began.stage());
            case EngineReport.OutputBegan began -> counts(began.output(), 0, 0, 0);
            case EngineReport.Step s -> counts(s.output(), s.step(), s.steps(), progress.resumedAtStep());
            case EngineReport.Restored s -> counts(s.output(), s.step(), s.steps(), s.step());
            case EngineReport.Saved _ -> keeper.saved();
            case EngineReport.OutputReady ready -> {
                try {
                    store(ready);
                } catch (StorageException e) {
                    // It may be at work on the next output already.
                    engine.close();
                    return Optional.of(withoutStorage(e));
                }
            }
            case EngineReport.Done _ -> {
                return Optional.of(new End.Completed());
            }
            case EngineReport.Stopped _ -> {
                return Optional.of(stopped());
            }
            case EngineReport.Failed failed -> {
                if (failed.error().code() == JobError.Code.GENERATION_FAILED) {
                    // Out of memory, a number that is not finite, an error of the VM: the next job gets a process that has not met it.
                    engine.close();
                }
                return Optional.of(cancelling ? new End.Stopped() : new End.Failed(failed.error()));
            }
            case EngineReport.Died died -> {
                return Optional.of(cancelling ? new End.Stopped() : releasingSince.isPresent() ? new End.Released() : new End.Crashed(died.lastWords()));
            }
        }
        return Optional.empty();
    }

    /** A worker that is told to stop does not wait for its storage to come back: the next one may have more luck. */
    private End withoutStorage(StorageException e) {
        return releaseAt.get().isPresent() ? new End.Released() : new End.Failed(new JobError(JobError.Code.STORAGE_FAILED, e.getMessage()));
    }

    private End stopped() {
        return cancelling ? new End.Stopped() : new End.Released();
    }

    private void store(EngineReport.OutputReady ready) throws InterruptedException {
        Path from = folder.resolve("output-" + ready.output());
        Map<OutputFile, StoredFile> files = new EnumMap<>(OutputFile.class);
        for (OutputFile kind : ready.files()) {
            files.put(kind, insist(() -> storage.put(JobFiles.output(id(), lease.attempt(), ready.output(), kind), from.resolve(kind.fileName()))));
        }
        JobOutput output = new JobOutput(ready.output(), ready.seed(), files);
        Patience.untilStored(() -> queue.output(lease, output));
        WorkFolder.delete(from);
    }

    /** Does it again while the storage refuses, for a while. */
    private <T> T insist(Supplier<T> work) throws InterruptedException {
        long deadline = System.nanoTime() + options.times().storage().toNanos();
        while (true) {
            try {
                return work.get();
            } catch (StorageException e) {
                if (System.nanoTime() >= deadline || releaseAt.get().isPresent()) {
                    throw e;
                }
                Thread.sleep(BETWEEN_STORAGE_TRIES);
            }
        }
    }

    private void stage(JobStage stage) {
        progress = progress.at(stage, clock.instant());
        told = false;
    }

    private void counts(int output, int step, int steps, int resumed) {
        progress = new JobProgress(progress.stage(), progress.stageStartedAt(), output, progress.outputs(), step, steps, resumed);
        told = false;
    }

    private void tellIfDue() {
        if (!told && System.nanoTime() - toldAt >= BETWEEN_REPORTS.toNanos()) {
            tell();
        }
    }

    /** What came with the end, or shortly before it, belongs to the job's last state. */
    private void tellLast() {
        if (!told) {
            tell();
        }
    }

    private void tell() {
        try {
            // That the lease has ended is seen by stopIfAsked.
            queue.progress(lease, progress);
        } catch (StoreUnavailableException away) {
            // Progress is for onlookers: the next report brings it.
        }
        told = true;
        toldAt = System.nanoTime();
    }

    private void stopIfAsked() {
        try {
            boolean due = System.nanoTime() - askedAt >= options.times().poll().toNanos();
            askedAt = due ? System.nanoTime() : askedAt;
            if (!cancelling && due && queue.shouldStop(lease)) {
                cancelling = true;
                order(new EngineOrder.Cancel());
            }
        } catch (StoreUnavailableException away) {
            // Nobody can ask for anything at the moment.
        }
        Optional<Long> release = releaseAt.get();
        if (release.isPresent() && releasingSince.isEmpty() && System.nanoTime() - release.get() >= 0) {
            releasingSince = Optional.of(System.nanoTime());
            order(new EngineOrder.Release());
        }
    }

    private void order(EngineOrder order) {
        try {
            engine.order(order);
        } catch (IOException gone) {
            // Its end is on the way as a report.
        }
    }

    /** What stops this process for a while (a terminal's Ctrl-Z, a container's freezer) mostly stops the engine with it, which then has not hung. */
    private void excuseIfHeldUp() {
        long heldUp = System.nanoTime() - lookedAt;
        lookedAt += heldUp;
        if (heldUp > options.times().silence().toNanos() / 2) {
            movedAt += heldUp;
            engine.excuse();
        }
    }

    private void killIfHung() {
        excuseIfHeldUp();
        boolean silent = engine.silence().compareTo(options.times().silence()) > 0;
        boolean stalled = System.nanoTime() - movedAt > options.times().stall().toNanos();
        boolean late = releasingSince.isPresent() && System.nanoTime() - releasingSince.get() > options.times().release().toNanos();
        if (silent || stalled || late) {
            engine.close();
        }
    }
}

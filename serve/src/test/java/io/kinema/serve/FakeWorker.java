package io.kinema.serve;

import io.kinema.jobs.Job;
import io.kinema.jobs.JobId;
import io.kinema.jobs.JobOutput;
import io.kinema.jobs.JobProgress;
import io.kinema.jobs.JobStage;
import io.kinema.jobs.Lease;
import io.kinema.jobs.OutputFile;
import io.kinema.jobs.WorkQueue;
import io.kinema.jobs.storage.OutputStorage;
import io.kinema.jobs.storage.StorageKey;
import io.kinema.jobs.storage.StoredFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/** An engine that computes nothing: takes jobs one by one, spends some milliseconds on each step, and stores what its film maker makes. */
final class FakeWorker implements AutoCloseable {
    /** Makes the files of one output. */
    @FunctionalInterface
    interface FilmMaker {
        void make(Job job, int output, Map<OutputFile, Path> files) throws IOException;
    }

    private static final int STEPS = 2;

    private final WorkQueue jobs;
    private final Supplier<Optional<JobId>> turns;
    private final OutputStorage storage;
    private final Path scratch;
    private final FilmMaker films;
    private final AtomicLong stepMillis;
    private final AtomicInteger made = new AtomicInteger();
    private final Thread thread;
    private boolean paused;
    private volatile Optional<Semaphore> allowed = Optional.empty();
    private volatile boolean closed;

    /** @param turns tells whose turn it is */
    FakeWorker(WorkQueue jobs, Supplier<Optional<JobId>> turns, OutputStorage storage, Path scratch, long stepMillis, FilmMaker films) {
        this.jobs = jobs;
        this.turns = turns;
        this.storage = storage;
        this.scratch = scratch;
        this.films = films;
        this.stepMillis = new AtomicLong(stepMillis);
        this.thread = Thread.ofPlatform().daemon().name("fake-worker").start(this::work);
    }

    /** Takes no job any more once this has returned; the one under way goes on. */
    synchronized void pause(boolean value) {
        paused = value;
    }

    private synchronized Optional<JobId> turn() {
        return paused ? Optional.empty() : turns.get();
    }

    /** Waits after every step for somebody to release it. */
    void stepBy(Semaphore steps) {
        allowed = Optional.of(steps);
    }

    void stepMillis(long value) {
        stepMillis.set(value);
    }

    /** Attempts that ended in a result. */
    int made() {
        return made.get();
    }

    private void work() {
        try {
            while (!closed) {
                Optional<JobId> next = turn();
                if (next.isEmpty()) {
                    Thread.sleep(1);
                } else {
                    jobs.begin(next.get()).ifPresent(this::make);
                }
            }
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
    }

    private void make(Lease lease) {
        Job job = lease.job();
        int outputs = job.request().generate().outputs();
        try {
            for (int output = 0; output < outputs; output++) {
                for (int step = 0; step <= STEPS; step++) {
                    if (jobs.shouldStop(lease)) {
                        jobs.cancelled(lease);
                        return;
                    }
                    jobs.progress(lease, new JobProgress(JobStage.DENOISING, Instant.now(), output, outputs, step, STEPS, 0));
                    Thread.sleep(stepMillis.get());
                    if (allowed.isPresent()) {
                        allowed.get().acquire();
                    }
                }
                jobs.output(lease, store(job, output));
            }
            jobs.complete(lease);
            made.incrementAndGet();
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
    }

    private JobOutput store(Job job, int output) {
        Map<OutputFile, Path> files = new EnumMap<>(OutputFile.class);
        for (OutputFile kind : OutputFile.values()) {
            files.put(kind, scratch.resolve("fake-" + kind.fileName()));
        }
        try {
            files.values().forEach(FakeWorker::remove);
            films.make(job, output, files);
            Map<OutputFile, StoredFile> stored = new EnumMap<>(OutputFile.class);
            files.forEach((kind, file) -> {
                if (Files.exists(file)) {
                    stored.put(kind, storage.put(StorageKey.of("outputs", job.id().value(), "" + output, kind.fileName()), file));
                }
            });
            return new JobOutput(output, job.request().generate().seed().orElse(0) + output, stored);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void remove(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() throws InterruptedException {
        closed = true;
        thread.join(Duration.ofMinutes(5));
    }
}

package io.kinema.jobs.service;

import io.kinema.jobs.JobLimits;
import io.kinema.jobs.sql.DatabaseUrl;
import io.kinema.jobs.storage.OutputStorage;
import io.kinema.jobs.worker.WorkerOptions;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Objects;
import java.util.Optional;

/**
 * What a {@link QueueService} is made of.
 *
 * @param database where the jobs are
 * @param storage  where their files are; the service closes it
 * @param limits   how much the queue takes
 * @param worker   the worker of this process; none when others run the jobs
 * @param clock    tells the times that jobs bear; order, leases and clean-up bear its jumps
 */
public record QueueOptions(DatabaseUrl database, OutputStorage storage, JobLimits limits, Optional<WorkerOptions> worker, InstantSource clock) {
    public QueueOptions {
        Objects.requireNonNull(database, "database");
        Objects.requireNonNull(storage, "storage");
        Objects.requireNonNull(limits, "limits");
        Objects.requireNonNull(worker, "worker");
        Objects.requireNonNull(clock, "clock");
    }

    /** The usual limits and clock. */
    public static QueueOptions of(DatabaseUrl database, OutputStorage storage) {
        return new QueueOptions(database, storage, JobLimits.defaults(), Optional.empty(), InstantSource.system());
    }

    public QueueOptions limits(JobLimits value) {
        return new QueueOptions(database, storage, value, worker, clock);
    }

    /** Also makes jobs. */
    public QueueOptions worker(WorkerOptions value) {
        return new QueueOptions(database, storage, limits, Optional.of(value), clock);
    }

    public QueueOptions clock(InstantSource value) {
        return new QueueOptions(database, storage, limits, worker, value);
    }

    /** Where a process with data in {@code folder} keeps files of the job that it is making. */
    public static Path workFolder(Path folder) {
        return folder.resolve("work");
    }
}

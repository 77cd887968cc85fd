package io.kinema.jobs.service;

import io.kinema.jobs.JobService;
import io.kinema.jobs.JobStore;
import io.kinema.jobs.WorkerStatus;
import io.kinema.jobs.sql.CleanUp;
import io.kinema.jobs.sql.Database;
import io.kinema.jobs.sql.JobScheduler;
import io.kinema.jobs.sql.SqlJobs;
import io.kinema.jobs.storage.OutputStorage;
import io.kinema.jobs.worker.Worker;
import io.kinema.jobs.worker.WorkerOptions;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Owns a queue in SQL, its storage and the worker of this process until it is closed; closing drains the worker and is idempotent. */
public final class QueueService implements JobService {
    /** How long a request waits for a database that does not answer. */
    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final int NAME_BYTES = 4;

    private final Database database;
    private final OutputStorage storage;
    private final SqlJobs jobs;
    private final Optional<Worker> worker;
    private final Optional<JobScheduler> scheduler;
    private final ScheduledExecutorService housekeeper;

    private QueueService(QueueOptions options, Database database) {
        this.database = database;
        this.storage = options.storage();
        this.jobs = new SqlJobs(database, storage, options.limits(), options.clock());
        if (options.database().embedded()) {
            jobs.recoverAlone();
        }
        this.worker = options.worker().map(w -> new Worker(jobs, storage, w, options.clock()));
        this.scheduler = worker.map(w -> JobScheduler.start(database, jobs, w, options.worker().orElseThrow(), name(options.worker().orElseThrow())));
        this.housekeeper = Executors.newSingleThreadScheduledExecutor(Thread.ofPlatform().daemon().name("kinema-clean-up").factory());
        CleanUp cleanUp = new CleanUp(database, storage, options.clock());
        housekeeper.scheduleWithFixedDelay(cleanUp::sweep, 0, CleanUp.INTERVAL.toMillis(), TimeUnit.MILLISECONDS);
    }

    /**
     * Opens a queue; its tables are made when they are missing. With a worker, jobs begin at once.
     *
     * @throws io.kinema.jobs.StoreUnavailableException when the database cannot be reached
     * @throws io.kinema.engine.BadRequestException     when another process has its file open
     */
    public static QueueService open(QueueOptions options) {
        Database database = Database.open(options.database(), PATIENCE);
        try {
            return new QueueService(options, database);
        } catch (RuntimeException e) {
            database.close();
            throw e;
        }
    }

    /** No two workers may bear the same name, nor one and its earlier life. */
    private static String name(WorkerOptions worker) {
        byte[] bytes = new byte[NAME_BYTES];
        new SecureRandom().nextBytes(bytes);
        return worker.model() + "-" + ProcessHandle.current().pid() + "-" + HexFormat.of().formatHex(bytes);
    }

    @Override
    public JobStore jobs() {
        return jobs;
    }

    @Override
    public OutputStorage storage() {
        return storage;
    }

    @Override
    public WorkerStatus worker() {
        return worker.map(Worker::status).orElse(new WorkerStatus(WorkerStatus.State.NONE, Optional.empty(), 0));
    }

    @Override
    public void close() {
        housekeeper.shutdownNow();
        scheduler.ifPresent(JobScheduler::close);
        database.close();
        storage.close();
    }
}

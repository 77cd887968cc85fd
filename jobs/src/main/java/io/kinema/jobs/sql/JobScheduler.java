package io.kinema.jobs.sql;

import com.github.kagkarlsson.scheduler.Scheduler;
import com.github.kagkarlsson.scheduler.SchedulerName;
import com.github.kagkarlsson.scheduler.task.CompletionHandler;
import com.github.kagkarlsson.scheduler.task.ExecutionComplete;
import com.github.kagkarlsson.scheduler.task.ExecutionOperations;
import com.github.kagkarlsson.scheduler.task.Task;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import io.kinema.jobs.Job;
import io.kinema.jobs.JobId;
import io.kinema.jobs.StoreUnavailableException;
import io.kinema.jobs.worker.Turn;
import io.kinema.jobs.worker.Worker;
import io.kinema.jobs.worker.WorkerOptions;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * Owns the scheduler that gives jobs to one worker, the oldest first, until it is closed. It is db-scheduler's: it picks executions, tells the
 * others that it lives, and finds those whose worker does not. Closing waits for the worker to drain. Closing twice is harmless.
 */
public final class JobScheduler implements AutoCloseable {
    private static final int HEARTBEATS_MISSED = 4;
    /** A job of a model that no worker here knows is not an error: it waits for its own workers, for ever. */
    private static final Duration KEEP_UNKNOWN = Duration.ofDays(36_500);

    private final SqlJobs jobs;
    private final Worker worker;
    private final Scheduler scheduler;

    private JobScheduler(Database database, SqlJobs jobs, Worker worker, WorkerOptions options, String name) {
        this.jobs = jobs;
        this.worker = worker;
        Task<Void> task = Tasks.custom(JobTasks.name(options.model()), Void.class)
                .onDeadExecution(this::revive)
                .onFailure((complete, operations) -> again(complete, operations))
                .execute((instance, context) -> make(new JobId(instance.getId())));
        this.scheduler = Scheduler.create(database.source(), task).tableName(JobTasks.TABLE).serializer(JobTasks.NO_DATA).threads(1)
                .pollUsingFetchAndLockOnExecute(0.5, 1.0).pollingInterval(options.times().poll()).heartbeatInterval(options.times().beat())
                .missedHeartbeatsLimit(HEARTBEATS_MISSED).schedulerName(new SchedulerName.Fixed(name)).clock(DatabaseClock.of(database))
                .deleteUnresolvedAfter(KEEP_UNKNOWN).shutdownMaxWait(options.times().stopBound()).build();
    }

    /** Starts giving jobs to the worker. @param name of this worker among all of the queue, for people who look into the database */
    public static JobScheduler start(Database database, SqlJobs jobs, Worker worker, WorkerOptions options, String name) {
        JobScheduler scheduler = new JobScheduler(database, jobs, worker, options, name);
        scheduler.scheduler.start();
        return scheduler;
    }

    private CompletionHandler<Void> make(JobId id) {
        Turn turn;
        try {
            do {
                turn = worker.make(id);
            } while (turn == Turn.RETRY);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            turn = Turn.WAITS;
        }
        boolean waits = turn == Turn.WAITS;
        return (complete, operations) -> {
            if (waits) {
                again(complete, operations);
            } else {
                operations.remove();
            }
            scheduler.triggerCheckForDueExecutions();
        };
    }

    /** Back to its place in the queue. */
    private static void again(ExecutionComplete complete, ExecutionOperations<Void> operations) {
        Instant place = complete.getExecution().executionTime;
        operations.reschedule(complete, place);
    }

    /**
     * The worker of this execution was silent for too long. Of all schedulers that notice, the one whose update of the execution succeeds
     * takes the job from it; the attempt's number keeps it from taking it from a worker that has begun since.
     */
    private void revive(ExecutionComplete complete, ExecutionOperations<Void> operations) {
        JobId id = new JobId(complete.getExecution().getId());
        Optional<Job> job = jobs.get(id);
        again(complete, operations);
        try {
            job.ifPresent(j -> jobs.lost(id, j.attempts().begun()));
        } catch (StoreUnavailableException away) {
            // Whoever picks the job up finds it still in progress and knows what that means.
            scheduler.triggerCheckForDueExecutions();
        }
    }

    @Override
    public void close() {
        worker.drain();
        scheduler.stop();
        worker.close();
    }
}

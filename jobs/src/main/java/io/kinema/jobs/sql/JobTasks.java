package io.kinema.jobs.sql;

import com.github.kagkarlsson.scheduler.SchedulerClient;
import com.github.kagkarlsson.scheduler.exceptions.TaskInstanceException;
import com.github.kagkarlsson.scheduler.serializer.Serializer;
import com.github.kagkarlsson.scheduler.task.TaskInstance;
import com.github.kagkarlsson.scheduler.task.TaskInstanceId;
import io.kinema.jobs.JobId;
import java.sql.Connection;
import java.time.Instant;

/**
 * How jobs lie in the scheduler's table: one execution for each job that is not finished, named by its model, at a time that is its place in
 * the queue and not a time of any clock. So the scheduler's order by time is the order of recording, every job is due at once, and a
 * clock that jumps changes neither.
 */
final class JobTasks {
    /** The scheduler's table. */
    static final String TABLE = "kinema_tasks";

    /** Executions carry no data: nothing is ever serialised. */
    static final Serializer NO_DATA = new Serializer() {
        @Override
        public byte[] serialize(Object data) {
            if (data != null) {
                throw new IllegalArgumentException("job tasks carry no data");
            }
            return new byte[0];
        }

        @Override
        public <T> T deserialize(Class<T> type, byte[] bytes) {
            return null;
        }
    };

    private JobTasks() {
    }

    /** The task of the jobs of a model. */
    static String name(String model) {
        return "generate/" + model;
    }

    /** The time that stands for a place. */
    static Instant time(long place) {
        return Instant.EPOCH.plusNanos(place * 1000);
    }

    /** Makes a job the turn of which comes, within the caller's transaction. */
    static void schedule(Connection connection, JobId id, String model, long place) {
        client(connection).schedule(new TaskInstance<Void>(name(model), id.value()), time(place));
    }

    /** Takes a job out again, within the caller's transaction; one that a worker is just picking up stays, and finds nothing to do. */
    static void remove(Connection connection, JobId id, String model) {
        try {
            client(connection).cancel(TaskInstanceId.of(name(model), id.value()));
        } catch (TaskInstanceException pickedOrGone) {
            // Its worker asks the job's row, which is the truth.
        }
    }

    private static SchedulerClient client(Connection connection) {
        return SchedulerClient.Builder.create(OneConnection.of(connection)).tableName(TABLE).serializer(NO_DATA).build();
    }
}

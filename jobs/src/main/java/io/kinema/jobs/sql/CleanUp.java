package io.kinema.jobs.sql;

import io.kinema.jobs.JobFiles;
import io.kinema.jobs.JobId;
import io.kinema.jobs.StoreUnavailableException;
import io.kinema.jobs.storage.OutputStorage;
import io.kinema.jobs.storage.StorageException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Removes jobs whose time is up, and files of jobs that are gone. Any number of processes may do so at once.
 *
 * <p>A job's time is counted in what passes between two sweeps, and of that never more than {@link #MOST_AT_ONCE}: a clock that jumps a year
 * ahead takes minutes off a job's time, not a year.
 */
public final class CleanUp {
    /** From one sweep to the next. */
    public static final Duration INTERVAL = Duration.ofMinutes(1);
    private static final Duration MOST_AT_ONCE = INTERVAL.multipliedBy(2);
    private static final Duration ORPHANED_FOR = Duration.ofHours(1);
    private static final int MOST_JOBS = 100;

    private final Database database;
    private final OutputStorage storage;
    private final InstantSource clock;
    /** Files without a job, and since when this process knows: a job that is just being recorded has its inputs stored first. */
    private final Map<JobId, Long> orphans = new HashMap<>();

    public CleanUp(Database database, OutputStorage storage, InstantSource clock) {
        this.database = database;
        this.storage = storage;
        this.clock = clock;
    }

    /** Sweeps once. @return jobs removed; 0 also when the database or the storage fails, which the next sweep may find mended */
    public int sweep() {
        try {
            List<JobId> expired = database.transaction("cleaning up", this::expire);
            expired.forEach(id -> JobFiles.deleteAll(storage, id));
            removeOrphans(System.nanoTime());
            return expired.size();
        } catch (IllegalStateException | StoreUnavailableException | StorageException failed) {
            // Thrown on, it would end all sweeps of this process.
            return 0;
        }
    }

    private List<JobId> expire(Connection connection) throws SQLException {
        Instant now = Times.whole(clock.instant());
        Duration passed = Duration.between(sweptAt(connection), now);
        try (PreparedStatement update = connection.prepareStatement("update kinema_queue set swept_at = ? where id = 1")) {
            update.setObject(1, Times.toSql(now));
            update.executeUpdate();
        }
        if (passed.isPositive()) {
            JobRows.age(connection, passed.compareTo(MOST_AT_ONCE) > 0 ? MOST_AT_ONCE : passed);
        }
        List<JobId> expired = JobRows.expired(connection, MOST_JOBS);
        for (JobId id : expired) {
            JobRows.delete(connection, id);
        }
        return expired;
    }

    private static Instant sweptAt(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("select swept_at from kinema_queue where id = 1 for update")) {
            rows.next();
            return Times.of(rows, "swept_at");
        }
    }

    /** @param nanos the time of {@link System#nanoTime} */
    void removeOrphans(long nanos) {
        List<JobId> gone = JobFiles.jobs(storage).stream()
                .filter(id -> database.transaction("looking for the job", c -> JobRows.revision(c, id)).isEmpty()).toList();
        orphans.keySet().retainAll(gone);
        for (JobId id : gone) {
            long since = orphans.computeIfAbsent(id, key -> nanos);
            if (nanos - since >= ORPHANED_FOR.toNanos()) {
                JobFiles.deleteAll(storage, id);
                orphans.remove(id);
            }
        }
    }

    /** Files that wait to be removed. */
    int orphans() {
        return orphans.size();
    }
}

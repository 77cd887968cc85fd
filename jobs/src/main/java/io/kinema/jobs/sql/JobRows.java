package io.kinema.jobs.sql;

import io.kinema.engine.GenerateRequestJson;
import io.kinema.jobs.Attempts;
import io.kinema.jobs.Job;
import io.kinema.jobs.JobId;
import io.kinema.jobs.JobQuery;
import io.kinema.jobs.JobRequest;
import io.kinema.jobs.JobState;
import io.kinema.jobs.Submission;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The rows of {@code kinema_jobs}: every statement on them stands here. All methods work within the caller's transaction. */
final class JobRows {
    private static final int RECENT = 20;

    private JobRows() {
    }

    static void insert(Connection connection, Job job, long place, Submission submission, Optional<String> fingerprint) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement("""
                insert into kinema_jobs (id, place, state, model, generate, details, owner, owner_key, idempotency_key, fingerprint, listed, remixed_from,
                    created_at, updated_at, revision, attempts_begun, attempts_crashed, attempts_lost, cancelling, progress, outputs, keep_millis)
                values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, false, ?, '[]', ?)""")) {
            int i = 0;
            insert.setString(++i, job.id().value());
            insert.setLong(++i, place);
            insert.setString(++i, job.state().label());
            insert.setString(++i, job.request().model());
            insert.setString(++i, GenerateRequestJson.write(job.request().generate()).toString());
            insert.setString(++i, job.request().details());
            insert.setString(++i, job.owner().orElse(null));
            insert.setString(++i, ownerKey(job.owner()));
            insert.setString(++i, submission.idempotencyKey().orElse(null));
            insert.setString(++i, fingerprint.orElse(null));
            insert.setBoolean(++i, job.listed());
            insert.setString(++i, job.remixedFrom().map(JobId::value).orElse(null));
            insert.setObject(++i, Times.toSql(job.createdAt()));
            insert.setObject(++i, Times.toSql(job.updatedAt()));
            insert.setLong(++i, job.revision());
            insert.setString(++i, JobJson.write(job.progress()));
            insert.setLong(++i, job.keep().toMillis());
            insert.executeUpdate();
        }
    }

    /** Jobs without an owner share one key, which no owner can have. */
    static String ownerKey(Optional<String> owner) {
        return owner.map(name -> "=" + name).orElse("");
    }

    /** Writes all that may change of a job. */
    static void update(Connection connection, Job job) throws SQLException {
        try (PreparedStatement update = connection.prepareStatement("""
                update kinema_jobs set state = ?, started_at = ?, finished_at = ?, expires_at = ?, updated_at = ?, revision = ?, attempts_begun = ?,
                    attempts_crashed = ?, attempts_lost = ?, cancelling = ?, progress = ?, outputs = ?, error = ? where id = ?""")) {
            int i = 0;
            update.setString(++i, job.state().label());
            update.setObject(++i, Times.toSql(job.startedAt()), Types.TIMESTAMP_WITH_TIMEZONE);
            update.setObject(++i, Times.toSql(job.finishedAt()), Types.TIMESTAMP_WITH_TIMEZONE);
            update.setObject(++i, Times.toSql(job.expiresAt()), Types.TIMESTAMP_WITH_TIMEZONE);
            update.setObject(++i, Times.toSql(job.updatedAt()));
            update.setLong(++i, job.revision());
            update.setInt(++i, job.attempts().begun());
            update.setInt(++i, job.attempts().crashed());
            update.setInt(++i, job.attempts().lost());
            update.setBoolean(++i, job.cancelling());
            update.setString(++i, JobJson.write(job.progress()));
            update.setString(++i, JobJson.write(job.outputs()));
            update.setString(++i, job.error().map(JobJson::write).orElse(null));
            update.setString(++i, job.id().value());
            update.executeUpdate();
        }
    }

    static Optional<Job> find(Connection connection, JobId id) throws SQLException {
        return one(connection, "select * from kinema_jobs where id = ?", id.value());
    }

    /** The job, which nobody else can change until the transaction ends. */
    static Optional<Job> lock(Connection connection, JobId id) throws SQLException {
        return one(connection, "select * from kinema_jobs where id = ? for update", id.value());
    }

    /** A job with this key, and the fingerprint of the request that came with it. */
    static Optional<Map.Entry<Job, String>> withKey(Connection connection, Optional<String> owner, String key) throws SQLException {
        try (PreparedStatement select = connection.prepareStatement("select * from kinema_jobs where owner_key = ? and idempotency_key = ?")) {
            select.setString(1, ownerKey(owner));
            select.setString(2, key);
            try (ResultSet rows = select.executeQuery()) {
                return rows.next() ? Optional.of(Map.entry(job(rows), rows.getString("fingerprint"))) : Optional.empty();
            }
        }
    }

    static Optional<Long> revision(Connection connection, JobId id) throws SQLException {
        return number(connection, "select revision from kinema_jobs where id = ?", id.value());
    }

    static Optional<Long> place(Connection connection, JobId id) throws SQLException {
        return number(connection, "select place from kinema_jobs where id = ?", id.value());
    }

    private static Optional<Long> number(Connection connection, String sql, String id) throws SQLException {
        try (PreparedStatement select = connection.prepareStatement(sql)) {
            select.setString(1, id);
            try (ResultSet rows = select.executeQuery()) {
                return rows.next() ? Optional.of(rows.getLong(1)) : Optional.empty();
            }
        }
    }

    static void delete(Connection connection, JobId id) throws SQLException {
        try (PreparedStatement delete = connection.prepareStatement("delete from kinema_jobs where id = ?")) {
            delete.setString(1, id.value());
            delete.executeUpdate();
        }
    }

    /** @param after place of the last job of the page before */
    static List<Job> page(Connection connection, JobQuery query, Optional<Long> after, int limit) throws SQLException {
        boolean newest = query.order() == JobQuery.Order.NEWEST_FIRST;
        String sql = "select * from kinema_jobs where listed" + (query.owner().isPresent() ? " and owner_key = ?" : "")
                + (after.isPresent() ? newest ? " and place < ?" : " and place > ?" : "") + " order by place " + (newest ? "desc" : "asc") + " limit ?";
        try (PreparedStatement select = connection.prepareStatement(sql)) {
            int i = 0;
            if (query.owner().isPresent()) {
                select.setString(++i, ownerKey(query.owner()));
            }
            if (after.isPresent()) {
                select.setLong(++i, after.get());
            }
            select.setInt(++i, limit);
            List<Job> jobs = new ArrayList<>();
            try (ResultSet rows = select.executeQuery()) {
                while (rows.next()) {
                    jobs.add(job(rows));
                }
            }
            return jobs;
        }
    }

    static List<Job> inProgress(Connection connection) throws SQLException {
        try (PreparedStatement select = connection.prepareStatement("select * from kinema_jobs where state = 'in_progress' order by place");
                ResultSet rows = select.executeQuery()) {
            List<Job> jobs = new ArrayList<>();
            while (rows.next()) {
                jobs.add(job(rows));
            }
            return jobs;
        }
    }

    static Map<JobState, Long> counts(Connection connection) throws SQLException {
        Map<JobState, Long> counts = new EnumMap<>(JobState.class);
        for (JobState state : JobState.values()) {
            counts.put(state, 0L);
        }
        try (PreparedStatement select = connection.prepareStatement("select state, count(*) from kinema_jobs group by state");
                ResultSet rows = select.executeQuery()) {
            while (rows.next()) {
                counts.put(JobState.labelled(rows.getString(1)).orElseThrow(), rows.getLong(2));
            }
        }
        return counts;
    }

    /** Waiting jobs: of everybody when no owner is named. */
    static int queued(Connection connection, Optional<String> ownerKey) throws SQLException {
        try (PreparedStatement select = connection.prepareStatement("select count(*) from kinema_jobs where state = 'queued'"
                + (ownerKey.isPresent() ? " and owner_key = ?" : ""))) {
            if (ownerKey.isPresent()) {
                select.setString(1, ownerKey.get());
            }
            try (ResultSet rows = select.executeQuery()) {
                rows.next();
                return rows.getInt(1);
            }
        }
    }

    /** How long the last completed jobs took, on average; zero when there is none. */
    static Duration meanDuration(Connection connection) throws SQLException {
        try (PreparedStatement select = connection.prepareStatement(
                "select started_at, finished_at from kinema_jobs where state = 'completed' order by finished_at desc limit " + RECENT);
                ResultSet rows = select.executeQuery()) {
            Duration sum = Duration.ZERO;
            int count = 0;
            while (rows.next()) {
                sum = sum.plus(Duration.between(Times.of(rows, "started_at"), Times.of(rows, "finished_at")));
                count++;
            }
            return count == 0 ? Duration.ZERO : sum.dividedBy(count);
        }
    }

    /** Takes time off what finished jobs have left to stay. */
    static void age(Connection connection, Duration by) throws SQLException {
        try (PreparedStatement update = connection.prepareStatement("update kinema_jobs set keep_millis = keep_millis - ? where finished_at is not null")) {
            update.setLong(1, by.toMillis());
            update.executeUpdate();
        }
    }

    /** Finished jobs whose time is up, oldest first. */
    static List<JobId> expired(Connection connection, int limit) throws SQLException {
        try (PreparedStatement select = connection.prepareStatement(
                "select id from kinema_jobs where finished_at is not null and keep_millis <= 0 order by place limit " + limit);
                ResultSet rows = select.executeQuery()) {
            List<JobId> ids = new ArrayList<>();
            while (rows.next()) {
                ids.add(new JobId(rows.getString(1)));
            }
            return ids;
        }
    }

    private static Optional<Job> one(Connection connection, String sql, String id) throws SQLException {
        try (PreparedStatement select = connection.prepareStatement(sql)) {
            select.setString(1, id);
            try (ResultSet rows = select.executeQuery()) {
                return rows.next() ? Optional.of(job(rows)) : Optional.empty();
            }
        }
    }

    private static Job job(ResultSet row) throws SQLException {
        JobRequest request = new JobRequest(row.getString("model"), GenerateRequestJson.read(JobJson.read(row.getString("generate"))), row.getString("details"));
        Attempts attempts = new Attempts(row.getInt("attempts_begun"), row.getInt("attempts_crashed"), row.getInt("attempts_lost"));
        Instant created = Times.of(row, "created_at");
        return new Job(new JobId(row.getString("id")), JobState.labelled(row.getString("state")).orElseThrow(), request,
                Optional.ofNullable(row.getString("owner")), row.getBoolean("listed"), Optional.ofNullable(row.getString("remixed_from")).map(JobId::new),
                created, Times.maybe(row, "started_at"), Times.maybe(row, "finished_at"), Duration.ofMillis(row.getLong("keep_millis")),
                Times.maybe(row, "expires_at"), Times.of(row, "updated_at"),
                row.getLong("revision"), attempts, row.getBoolean("cancelling"), JobJson.progress(row.getString("progress")),
                JobJson.outputs(row.getString("outputs")), Optional.ofNullable(row.getString("error")).map(JobJson::error));
    }
}

package io.kinema.jobs.sql;

import com.github.kagkarlsson.scheduler.Clock;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.time.OffsetDateTime;

/**
 * The time by which workers judge one another's signs of life: the database's, asked when this is made, plus what has passed here since. So
 * hosts whose clocks differ agree, and a clock that is set while they run moves nothing.
 */
final class DatabaseClock implements Clock {
    private final Instant start;
    private final long nanos;

    private DatabaseClock(Instant start, long nanos) {
        this.start = start;
        this.nanos = nanos;
    }

    static DatabaseClock of(Database database) {
        return database.transaction("asking the time", connection -> {
            try (Statement statement = connection.createStatement();
                    ResultSet rows = statement.executeQuery("select current_timestamp")) {
                rows.next();
                return read(rows);
            }
        });
    }

    private static DatabaseClock read(ResultSet row) throws SQLException {
        return new DatabaseClock(row.getObject(1, OffsetDateTime.class).toInstant(), System.nanoTime());
    }

    @Override
    public Instant now() {
        return start.plusNanos(System.nanoTime() - nanos);
    }
}

package io.kinema.jobs.sql;

import com.github.kagkarlsson.scheduler.Clock;
import io.kinema.jobs.StoreUnavailableException;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The time by which workers judge one another's signs of life: the database's, asked every minute, plus what has passed here since. So hosts
 * whose clocks differ agree, and a clock that is set on one of them moves nothing.
 */
final class DatabaseClock implements Clock {
    private static final Duration GOOD_FOR = Duration.ofMinutes(1);

    /** @param nanos when the answer came, by {@link System#nanoTime} */
    private record Answer(Instant time, long nanos) {
    }

    private final Database database;
    private final AtomicBoolean asking = new AtomicBoolean();
    private volatile Answer answer;

    private DatabaseClock(Database database) {
        this.database = database;
        this.answer = ask();
    }

    static DatabaseClock of(Database database) {
        return new DatabaseClock(database);
    }

    @Override
    public Instant now() {
        Answer last = answer;
        long passed = System.nanoTime() - last.nanos();
        if (passed > GOOD_FOR.toNanos() && asking.compareAndSet(false, true)) {
            Thread.ofVirtual().name("kinema-database-time").start(this::askAgain);
        }
        return last.time().plusNanos(passed);
    }

    private void askAgain() {
        try {
            answer = ask();
        } catch (StoreUnavailableException away) {
            // The last answer is still good: a clock here loses a second in hours, not in minutes.
        } finally {
            asking.set(false);
        }
    }

    private Answer ask() {
        return database.transaction("asking the time", connection -> {
            try (Statement statement = connection.createStatement();
                    ResultSet rows = statement.executeQuery("select current_timestamp")) {
                rows.next();
                return new Answer(rows.getObject(1, OffsetDateTime.class).toInstant(), System.nanoTime());
            }
        });
    }
}

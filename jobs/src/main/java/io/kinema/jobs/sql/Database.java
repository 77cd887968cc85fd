package io.kinema.jobs.sql;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.pool.HikariPool;
import io.kinema.engine.BadRequestException;
import io.kinema.jobs.StoreUnavailableException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTransientException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import javax.sql.DataSource;
import org.h2.api.ErrorCode;

/**
 * Owns the connections to a database until it is closed. Runs transactions, again when the database was away for a moment. Closing
 * twice is harmless. Any number of threads may use it.
 */
public final class Database implements AutoCloseable {
    private static final int CONNECTIONS = 10;
    /** How long a thread waits for a connection: from a database elsewhere, which may be gone, and from one in this process, which is only busy. */
    private static final Duration CONNECT = Duration.ofSeconds(5);
    private static final Duration CONNECT_EMBEDDED = Duration.ofMinutes(1);
    private static final Duration BETWEEN_TRIES = Duration.ofMillis(100);
    /** Classes of SQLSTATE after which the same transaction may succeed: no connection, rolled back for another's sake, shutting down, file closed. */
    private static final Set<String> PASSING = Set.of("08", "40", "57", "90");

    /** Work on a connection, within one transaction. */
    interface Work<T> {
        T on(Connection connection) throws SQLException;
    }

    private final DatabaseUrl url;
    private final HikariDataSource pool;
    private final Duration patience;
    private final AtomicLong forceAsked = new AtomicLong();
    private final ReentrantLock forcing = new ReentrantLock();
    private long forced;

    private Database(DatabaseUrl url, HikariDataSource pool, Duration patience) {
        this.url = url;
        this.pool = pool;
        this.patience = patience;
    }

    /**
     * Connects, and brings the tables to this version's state.
     *
     * @param patience how long a transaction is tried again while the database does not answer
     * @throws StoreUnavailableException when the database cannot be reached
     * @throws BadRequestException       when another process has its file open
     */
    public static Database open(DatabaseUrl url, Duration patience) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url.jdbc());
        config.setMaximumPoolSize(CONNECTIONS);
        config.setMinimumIdle(1);
        config.setConnectionTimeout((url.embedded() ? CONNECT_EMBEDDED : CONNECT).toMillis());
        config.setPoolName("kinema-jobs");
        HikariDataSource pool;
        try {
            pool = new HikariDataSource(config);
        } catch (HikariPool.PoolInitializationException e) {
            throw notOpened(e);
        }
        try {
            Database database = new Database(url, pool, patience);
            database.transaction("preparing the tables", Migrations::apply);
            return database;
        } catch (RuntimeException e) {
            pool.close();
            throw e;
        }
    }

    private static RuntimeException notOpened(HikariPool.PoolInitializationException e) {
        if (e.getCause() instanceof SQLException cause && cause.getErrorCode() == ErrorCode.DATABASE_ALREADY_OPEN_1) {
            return new BadRequestException("data", "a folder whose queue another process has open", "expected one of its own; stop that process or give another folder");
        }
        return new StoreUnavailableException("opening the queue", e);
    }

    /** Where it is. */
    public DatabaseUrl url() {
        return url;
    }

    DataSource source() {
        return pool;
    }

    /**
     * Runs work in a transaction of its own; again from its beginning when the database went away, so it must bear being done twice.
     *
     * @param what names it in messages: "recording the job"
     */
    <T> T transaction(String what, Work<T> work) {
        long deadline = System.nanoTime() + patience.toNanos();
        while (true) {
            try {
                return once(work);
            } catch (SQLException e) {
                if (!passing(e)) {
                    throw new IllegalStateException("job store: " + what + " failed: " + e.getMessage(), e);
                }
                if (System.nanoTime() >= deadline || !pause()) {
                    throw new StoreUnavailableException(what, e);
                }
            }
        }
    }

    private <T> T once(Work<T> work) throws SQLException {
        try (Connection connection = pool.getConnection()) {
            connection.setAutoCommit(false);
            try {
                T result = work.on(connection);
                connection.commit();
                return result;
            } catch (SQLException | RuntimeException e) {
                rollback(connection);
                throw e;
            }
        }
    }

    /**
     * Puts what is committed onto the disk itself, past the operating system's cache, where the database does not do so by itself. Threads that
     * come while one writes wait for the next writing, which serves them all.
     */
    void force() {
        if (!url.embedded()) {
            return;
        }
        long mine = forceAsked.incrementAndGet();
        forcing.lock();
        try {
            if (forced < mine) {
                long all = forceAsked.get();
                transaction("writing to the disk", connection -> {
                    try (Statement statement = connection.createStatement()) {
                        return statement.execute("checkpoint sync");
                    }
                });
                forced = all;
            }
        } finally {
            forcing.unlock();
        }
    }

    private static void rollback(Connection connection) {
        try {
            connection.rollback();
        } catch (SQLException e) {
            // The connection is gone, and with it the transaction; the first failure is being reported.
        }
    }

    private static boolean passing(SQLException e) {
        String state = e.getSQLState() == null ? "" : e.getSQLState();
        boolean uniqueness = state.startsWith("23");
        return !uniqueness && (e instanceof SQLTransientException || e instanceof SQLRecoverableException
                || PASSING.contains(state.substring(0, Math.min(2, state.length()))) || state.equals("HYT00"));
    }

    private static boolean pause() {
        try {
            Thread.sleep(BETWEEN_TRIES);
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    @Override
    public void close() {
        pool.close();
    }
}

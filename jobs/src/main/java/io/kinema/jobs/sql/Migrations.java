package io.kinema.jobs.sql;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;

/**
 * The tables' versions: resource {@code V<n>.sql} makes version n of version n - 1. A database of a later version than this program's is
 * refused.
 */
final class Migrations {
    /** This program's version. */
    static final int VERSION = 1;
    /** Any number that nothing else in the same database is likely to lock. */
    private static final long LOCK = 0x6b696e656d61L;

    private Migrations() {
    }

    /** Brings the tables to {@link #VERSION}, within the caller's transaction. @return the version found before */
    static int apply(Connection connection) throws SQLException {
        lockOut(connection);
        try (Statement statement = connection.createStatement()) {
            statement.execute("create table if not exists kinema_schema (id integer not null primary key, version integer not null)");
        }
        int found = version(connection);
        if (found > VERSION) {
            throw new IllegalStateException("job store: its tables have version " + found + ", this program knows " + VERSION + "; use the newer Kinema that made them");
        }
        for (int next = found + 1; next <= VERSION; next++) {
            run(connection, next);
        }
        return found;
    }

    /** Two processes that start at once take turns: the second finds the work done. */
    private static void lockOut(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            if (connection.getMetaData().getDatabaseProductName().equals("PostgreSQL")) {
                statement.execute("select pg_advisory_xact_lock(" + LOCK + ")");
            }
        }
    }

    private static int version(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("select max(version) from kinema_schema")) {
            rows.next();
            return rows.getInt(1);
        }
    }

    private static void run(Connection connection, int version) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            for (String sql : statements(version)) {
                statement.execute(sql);
            }
        }
        try (PreparedStatement insert = connection.prepareStatement("insert into kinema_schema (id, version) values (?, ?)")) {
            insert.setInt(1, version);
            insert.setInt(2, version);
            insert.executeUpdate();
        }
        if (version == 1) {
            try (PreparedStatement insert = connection.prepareStatement("insert into kinema_queue (id, last_place, swept_at) values (1, 0, ?)")) {
                insert.setObject(1, Times.toSql(Instant.EPOCH));
                insert.executeUpdate();
            }
        }
    }

    private static List<String> statements(int version) {
        String name = "V" + version + ".sql";
        try (InputStream in = Migrations.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IllegalStateException("resource " + name + " is missing beside " + Migrations.class.getName());
            }
            String text = new String(in.readAllBytes(), StandardCharsets.UTF_8).replaceAll("(?m)^--.*$", "");
            return Arrays.stream(text.split(";")).map(String::strip).filter(s -> !s.isEmpty()).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

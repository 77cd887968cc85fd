package io.kinema.jobs.sql;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.Optional;

/** Instants in the database: whole microseconds, which both databases keep. */
final class Times {
    private Times() {
    }

    static Instant whole(Instant time) {
        return time.truncatedTo(ChronoUnit.MICROS);
    }

    static OffsetDateTime toSql(Instant time) {
        return time.atOffset(ZoneOffset.UTC);
    }

    static OffsetDateTime toSql(Optional<Instant> time) {
        return time.map(Times::toSql).orElse(null);
    }

    static Instant of(ResultSet row, String column) throws SQLException {
        return row.getObject(column, OffsetDateTime.class).toInstant();
    }

    static Optional<Instant> maybe(ResultSet row, String column) throws SQLException {
        return Optional.ofNullable(row.getObject(column, OffsetDateTime.class)).map(OffsetDateTime::toInstant);
    }
}

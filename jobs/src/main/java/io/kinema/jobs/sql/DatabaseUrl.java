package io.kinema.jobs.sql;

import io.kinema.engine.BadRequestException;
import java.nio.file.Path;
import java.util.Objects;

/**
 * Which database holds the jobs.
 *
 * @param jdbc     JDBC URL, {@code jdbc:h2:...} or {@code jdbc:postgresql:...}; it may hold a password, so it is never shown
 * @param embedded true when only this process uses it
 */
public record DatabaseUrl(String jdbc, boolean embedded) {
    private static final String POSTGRESQL = "jdbc:postgresql:";

    public DatabaseUrl {
        Objects.requireNonNull(jdbc, "jdbc");
    }

    /** A file {@code jobs.mv.db} in a folder; one process at a time. */
    public static DatabaseUrl inFolder(Path folder) {
        // Every commit is written before it returns: a killed process loses nothing that it has confirmed.
        return new DatabaseUrl("jdbc:h2:file:" + folder.toAbsolutePath().resolve("jobs") + ";WRITE_DELAY=0;LOCK_TIMEOUT=10000;DB_CLOSE_ON_EXIT=FALSE", true);
    }

    /** A database that several processes share. @throws BadRequestException when it is not PostgreSQL */
    public static DatabaseUrl shared(String jdbc) {
        if (!jdbc.startsWith(POSTGRESQL)) {
            throw new BadRequestException("queue", "a URL that begins otherwise", "expected " + POSTGRESQL + "//HOST/DATABASE?user=USER");
        }
        return new DatabaseUrl(jdbc, false);
    }

    @Override
    public String toString() {
        return embedded ? "a file of this process" : "PostgreSQL";
    }
}

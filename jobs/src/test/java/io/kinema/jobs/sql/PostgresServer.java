package io.kinema.jobs.sql;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Owns a PostgreSQL server of Debian's packages on a free port of the loopback, with a fresh database, until it is closed. */
public final class PostgresServer implements AutoCloseable {
    private static final Path VERSIONS = Path.of("/usr/lib/postgresql");
    private static final long LIMIT_MINUTES = 5;
    /** Below those that Linux gives to clients, so that none takes the port while the server is down. */
    private static final int FIRST_PORT = 20_000;
    private static final int LAST_PORT = 32_000;
    private static final int MOST_PORTS = 20;

    private final Path bin;
    private final Path folder;
    private final int port;

    private PostgresServer(Path bin, Path folder, int port) {
        this.bin = bin;
        this.folder = folder;
        this.port = port;
    }

    /** The newest installed server's programs; empty when there is none. */
    public static Optional<Path> binaries() {
        if (!Files.isDirectory(VERSIONS)) {
            return Optional.empty();
        }
        try (Stream<Path> versions = Files.list(VERSIONS)) {
            return versions.map(version -> version.resolve("bin")).filter(bin -> Files.isExecutable(bin.resolve("pg_ctl"))).max(Comparator.naturalOrder());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Makes a database and starts its server. PostgreSQL refuses to run as root, so root becomes another user for it. */
    public static PostgresServer start(Path bin) throws IOException, InterruptedException {
        Path folder = Files.createTempDirectory("kinema-postgres");
        if (root()) {
            run(List.of("chown", "nobody", folder.toString()));
        }
        asUser(bin, "initdb", "-D", folder.resolve("data").toString(), "-U", "kinema", "--auth=trust", "-E", "UTF8", "--no-sync");
        // PostgreSQL cannot be asked for any free port, and one that was free a moment ago may be taken: it tries itself.
        IOException taken = new IOException("PostgreSQL was started on no port");
        for (int tries = 0; tries < MOST_PORTS; tries++) {
            PostgresServer server = new PostgresServer(bin, folder, ThreadLocalRandom.current().nextInt(FIRST_PORT, LAST_PORT));
            try {
                server.up();
                return server;
            } catch (IOException e) {
                taken = e;
                if (!Files.readString(folder.resolve("log")).contains("could not bind")) {
                    throw e;
                }
            }
        }
        throw taken;
    }

    /** JDBC URL of the database. */
    public String url() {
        return "jdbc:postgresql://127.0.0.1:" + port + "/postgres?user=kinema";
    }

    /** Starts a server that is down. */
    public void up() throws IOException, InterruptedException {
        asUser("pg_ctl", "-D", folder.resolve("data").toString(), "-w", "-t", "240", "-l", folder.resolve("log").toString(), "-o",
                "-p " + port + " -c unix_socket_directories= -c listen_addresses=127.0.0.1 -c fsync=on -c max_connections=60 -c shared_buffers=16MB", "start");
    }

    /** Stops it hard: connections are cut, the next start recovers from its log. */
    public void down() throws IOException, InterruptedException {
        asUser("pg_ctl", "-D", folder.resolve("data").toString(), "-w", "-t", "240", "-m", "immediate", "stop");
    }

    private void asUser(String program, String... arguments) throws IOException, InterruptedException {
        asUser(bin, program, arguments);
    }

    private static void asUser(Path bin, String program, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(root() ? List.of("setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups") : List.of());
        command.add(bin.resolve(program).toString());
        command.addAll(List.of(arguments));
        run(command);
    }

    private static boolean root() {
        return System.getProperty("user.name").equals("root");
    }

    private static void run(List<String> command) throws IOException, InterruptedException {
        Path output = Files.createTempFile("kinema-postgres", ".txt");
        try {
            Process process = new ProcessBuilder(command).directory(Path.of("/").toFile()).redirectErrorStream(true).redirectOutput(output.toFile()).start();
            if (!process.waitFor(LIMIT_MINUTES, TimeUnit.MINUTES) || process.exitValue() != 0) {
                process.destroyForcibly();
                throw new IOException(command + " failed: " + Files.readString(output));
            }
        } finally {
            Files.delete(output);
        }
    }

    @Override
    public void close() {
        try {
            down();
        } catch (IOException | InterruptedException e) {
            // It was down already.
        }
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(path);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

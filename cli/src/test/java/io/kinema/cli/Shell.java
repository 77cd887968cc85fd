package io.kinema.cli;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Runs commands as a user's shell does. Immutable: each {@code with} gives another one. */
record Shell(Path folder, Map<String, String> environment) {
    static final Path ROOT = Path.of(Optional.ofNullable(System.getProperty("kinema.root")).orElse(".."))
            .toAbsolutePath().normalize();
    private static final long LIMIT_MINUTES = 20;

    /** A command's exit code and all it printed. */
    record Result(int exit, String out, String err) {
        /** Its standard error's lines. */
        List<String> errors() {
            return err.lines().toList();
        }
    }

    /** A shell with a bare environment: Debian's PATH, no JAVA_HOME, the plainest locale. */
    static Shell bare(Path folder) {
        return new Shell(folder, Map.of("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                "HOME", System.getProperty("user.home"), "LANG", "C"));
    }

    Shell with(String name, String value) {
        Map<String, String> more = new HashMap<>(environment);
        more.put(name, value);
        return new Shell(folder, Map.copyOf(more));
    }

    /** Runs the repository's {@code kinema}. */
    Result kinema(String... arguments) {
        List<String> command = new ArrayList<>(List.of(ROOT.resolve("kinema").toString()));
        command.addAll(List.of(arguments));
        return run(command.toArray(String[]::new));
    }

    /** Runs a bash script with {@code $1}... as given. */
    Result bash(String script, String... arguments) {
        List<String> command = new ArrayList<>(List.of("bash", "-c", script, "bash"));
        command.addAll(List.of(arguments));
        return run(command.toArray(String[]::new));
    }

    Result run(String... command) {
        Process process = start(command);
        CompletableFuture<String> out = CompletableFuture.supplyAsync(() -> read(process.getInputStream()), Shell::inAThread);
        CompletableFuture<String> err = CompletableFuture.supplyAsync(() -> read(process.getErrorStream()), Shell::inAThread);
        try {
            if (!process.waitFor(LIMIT_MINUTES, TimeUnit.MINUTES)) {
                process.descendants().forEach(ProcessHandle::destroyForcibly);
                process.destroyForcibly();
                throw new AssertionError("still running after " + LIMIT_MINUTES + " minutes: " + String.join(" ", command));
            }
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(stop);
        }
        return new Result(process.exitValue(), out.join(), err.join());
    }

    /** Starts a command without waiting for it. */
    Process start(String... command) {
        try {
            Files.createDirectories(folder);
            ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile());
            builder.environment().clear();
            builder.environment().putAll(environment);
            builder.redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()));
            return builder.start();
        } catch (IOException unable) {
            throw new UncheckedIOException(unable);
        }
    }

    /** Of its own: on one processor, two readers that wait would hold up every virtual thread. */
    private static void inAThread(Runnable task) {
        Thread.ofPlatform().daemon().start(task);
    }

    private static String read(InputStream stream) {
        try (stream) {
            return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException closed) {
            throw new UncheckedIOException(closed);
        }
    }
}

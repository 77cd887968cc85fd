package io.kinema.fuzz;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Files for targets that read paths; in memory where the system has such a folder, so that a run costs no disk. */
public final class Scratch {
    private static final Path SHARED_MEMORY = Path.of("/dev/shm");
    private final Path folder;

    public Scratch(String name) {
        try {
            folder = Files.isWritable(SHARED_MEMORY) ? Files.createTempDirectory(SHARED_MEMORY, "kinema-fuzz-" + name)
                    : Files.createTempDirectory("kinema-fuzz-" + name);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Runtime.getRuntime().addShutdownHook(new Thread(this::remove));
    }

    public Path folder() {
        return folder;
    }

    public Path write(String name, byte[] bytes) {
        try {
            return Files.write(folder.resolve(name), bytes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void remove() {
        try (var files = Files.list(folder)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
            Files.delete(folder);
        } catch (IOException e) {
            // A folder of a few kilobytes stays behind; the system clears it.
        }
    }
}

package io.kinema.jobs.worker;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.stream.Stream;

/**
 * Owns a folder for files of running jobs, which no other process uses, until it is closed; closing removes it and is idempotent. Several
 * workers may be given the same parent: each locks a number of its own, and a process that was killed leaves its lock, and what it had
 * begun, to the next.
 */
final class WorkFolder implements AutoCloseable {
    private static final int MOST = 1000;

    private final Path folder;
    private final FileChannel lock;

    private WorkFolder(Path folder, FileChannel lock) {
        this.folder = folder;
        this.lock = lock;
    }

    /** @throws UncheckedIOException when the parent cannot be written */
    static WorkFolder claim(Path parent) {
        try {
            Files.createDirectories(parent);
            for (int number = 0; number < MOST; number++) {
                FileChannel channel = FileChannel.open(parent.resolve(number + ".lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                if (locked(channel)) {
                    Path folder = parent.resolve("" + number);
                    delete(folder);
                    return new WorkFolder(folder, channel);
                }
                channel.close();
            }
            throw new IOException(MOST + " workers use it");
        } catch (IOException e) {
            throw new UncheckedIOException("data: work in progress cannot be kept there (" + e.getMessage() + "), expected a folder that can be written", e);
        }
    }

    private static boolean locked(FileChannel channel) throws IOException {
        try {
            FileLock lock = channel.tryLock();
            return lock != null;
        } catch (OverlappingFileLockException ofThisProcess) {
            return false;
        }
    }

    /** An empty folder of this name. @throws IOException when it cannot be made */
    Path make(String name) throws IOException {
        delete(folder.resolve(name));
        return Files.createDirectories(folder.resolve(name));
    }

    /** Removes the folder of this name. */
    void delete(String name) {
        delete(folder.resolve(name));
    }

    /** Removes a folder with all that is in it; what cannot be removed stays, for the next start to try again. */
    static void delete(Path folder) {
        if (!Files.exists(folder)) {
            return;
        }
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(path);
            }
        } catch (IOException | UncheckedIOException left) {
            // An engine that is being killed may still write there.
        }
    }

    @Override
    public void close() {
        delete(folder);
        try {
            lock.close();
        } catch (IOException gone) {
            // The lock goes with the process at the latest.
        }
    }
}

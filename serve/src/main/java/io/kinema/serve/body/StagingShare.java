package io.kinema.serve.body;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Owns a server's share in the folder of {@link Staging} until it is closed; closing twice is harmless. Servers of one shared queue may be given
 * the same folder: one that comes while no other is there removes what killed ones left, one that comes later leaves all as it is.
 */
public final class StagingShare implements AutoCloseable {
    private final FileChannel lock;

    private StagingShare(FileChannel lock) {
        this.lock = lock;
    }

    /** @param root made when it is missing; a file beside it carries the lock @throws UncheckedIOException when it cannot be written */
    public static StagingShare take(Path root) {
        try {
            Files.createDirectories(root);
            FileChannel channel = FileChannel.open(root.resolveSibling(root.getFileName() + ".lock"), StandardOpenOption.CREATE, StandardOpenOption.READ,
                    StandardOpenOption.WRITE);
            try {
                clearIfAlone(channel, root);
                return new StagingShare(channel);
            } catch (IOException | RuntimeException e) {
                channel.close();
                throw e;
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void clearIfAlone(FileChannel channel, Path root) throws IOException {
        try {
            try (FileLock alone = channel.tryLock()) {
                if (alone != null) {
                    Staging.clear(root);
                }
            }
            // Whoever is alone between these two finds nothing of this server yet.
            channel.lock(0, Long.MAX_VALUE, true);
        } catch (OverlappingFileLockException ofThisProcess) {
            // A lock is a process's: the other server's stands for both.
        }
    }

    @Override
    public void close() {
        try {
            lock.close();
        } catch (IOException gone) {
            // The lock goes with the process at the latest.
        }
    }
}

package io.kinema.weights.prepared;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.ReadOnlyFileSystemException;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Owns a shared or exclusive lock, against other processes and other users in this one, until it is closed; closing twice is harmless.
 * A process that dies loses its locks.
 *
 * <p>All locks of a cache are bytes of one file that is never removed. The system counts such locks by process, takes all of them away
 * when any handle of the file is closed, and Java refuses a second lock on a byte that the process has locked already; so each process
 * has one handle of the file and counts its own users here.
 */
final class RangeLock implements AutoCloseable {
    private static final Map<Path, Handle> HANDLES = new HashMap<>();

    private final Handle handle;
    private final long position;
    private final boolean shared;
    private boolean closed;

    private RangeLock(Handle handle, long position, boolean shared) {
        this.handle = handle;
        this.position = position;
        this.shared = shared;
    }

    /** One byte's lock and its users in this process. */
    private static final class Held {
        private final FileLock lock;
        private int users;

        private Held(FileLock lock) {
            this.lock = lock;
        }
    }

    /** This process's handle of one lock file. */
    private static final class Handle {
        private final Path file;
        private final FileChannel channel;
        private final boolean writable;
        private final Map<Long, Held> held = new HashMap<>();

        private Handle(Path file, FileChannel channel, boolean writable) {
            this.file = file;
            this.channel = channel;
            this.writable = writable;
        }
    }

    /**
     * Takes a lock if nobody stands against it; never waits.
     *
     * @param file   the lock file; created where the folder can be written
     * @param shared with other shared locks
     * @throws IOException when the file cannot be opened, or the file system has no locks
     */
    static Optional<RangeLock> tryLock(Path file, long position, boolean shared) throws IOException {
        // Under an interrupted thread the handle would be closed, and all of this process's locks be gone with it.
        boolean interrupted = Thread.interrupted();
        try {
            return tryLockNow(file, position, shared);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static Optional<RangeLock> tryLockNow(Path file, long position, boolean shared) throws IOException {
        synchronized (HANDLES) {
            Handle handle = HANDLES.get(file);
            if (handle == null) {
                handle = open(file);
            }
            try {
                if (!shared && !handle.writable) {
                    throw new AccessDeniedException(file.toString(), null, "the folder is read-only");
                }
                return lock(handle, position, shared);
            } finally {
                dropUnused(handle);
            }
        }
    }

    private static Optional<RangeLock> lock(Handle handle, long position, boolean shared) throws IOException {
        Held mine = handle.held.get(position);
        if (mine == null) {
            Optional<FileLock> lock = lock(handle.channel, position, shared);
            if (lock.isEmpty()) {
                return Optional.empty();
            }
            mine = new Held(lock.get());
            handle.held.put(position, mine);
        } else if (!shared || !mine.lock.isShared()) {
            return Optional.empty();
        }
        mine.users++;
        return Optional.of(new RangeLock(handle, position, shared));
    }

    private static Optional<FileLock> lock(FileChannel channel, long position, boolean shared) throws IOException {
        try {
            return Optional.ofNullable(channel.tryLock(position, 1, shared));
        } catch (OverlappingFileLockException e) {
            // This class was loaded twice in this process, and the other one has it.
            return Optional.empty();
        }
    }

    private static Handle open(Path file) throws IOException {
        Handle handle = handle(file);
        HANDLES.put(file, handle);
        return handle;
    }

    private static Handle handle(Path file) throws IOException {
        try {
            return new Handle(file, FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS), true);
        } catch (AccessDeniedException | ReadOnlyFileSystemException e) {
            return readOnly(file);
        } catch (java.nio.file.FileSystemException e) {
            if (Files.isWritable(file.getParent())) {
                throw e;
            }
            return readOnly(file);
        }
    }

    /** Who may only read can still share. */
    private static Handle readOnly(Path file) throws IOException {
        if (!Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
            throw new NoSuchFileException(file.toString(), null, "and the folder is read-only");
        }
        return new Handle(file, FileChannel.open(file, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS), false);
    }

    private static void dropUnused(Handle handle) throws IOException {
        if (handle.held.isEmpty()) {
            HANDLES.remove(handle.file);
            handle.channel.close();
        }
    }

    boolean shared() {
        return shared;
    }

    @Override
    public void close() {
        synchronized (HANDLES) {
            if (closed) {
                return;
            }
            closed = true;
            Held mine = handle.held.get(position);
            if (--mine.users > 0) {
                return;
            }
            handle.held.remove(position);
            try {
                mine.lock.release();
                dropUnused(handle);
            } catch (IOException e) {
                throw new IllegalStateException(handle.file + ": a lock cannot be given back (" + e.getMessage() + ")", e);
            }
        }
    }
}

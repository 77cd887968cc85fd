package io.kinema.media.file;

import io.kinema.media.BadMediaException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Owns an open temporary file beside a target; {@link #commit} puts it in the target's place, and closing without that removes it.
 *
 * <p>The target is therefore either whole or as it was, whatever fails. A symbolic link is followed, so it stays a link. The
 * temporary file also goes when the process is told to stop ({@code SIGINT}, {@code SIGTERM}); when it is killed,
 * {@link Leftovers} removes it later. Closing twice is harmless.
 */
public final class AtomicFile implements AutoCloseable {

    private final Path named;
    private final Path target;
    private final Path temporary;
    private final FileChannel channel;

    private AtomicFile(Path named, Path target, Path temporary, FileChannel channel) {
        this.named = named;
        this.target = target;
        this.temporary = temporary;
        this.channel = channel;
    }

    /**
     * Opens a temporary file in the folder of {@code target}.
     *
     * @param target the file to be; may exist, and is then replaced on commit
     * @throws BadMediaException if the target is a folder or a device, or its folder is missing or cannot be written
     */
    public static AtomicFile create(Path target) {
        Path real = WriteTarget.resolve(target);
        AtomicFile file = open(target, real, Leftovers.newName());
        if (Leftovers.locked(file.channel, file.temporary)) {
            return file;
        }
        file.close();
        return open(target, real, Leftovers.newKeptName());
    }

    private static AtomicFile open(Path target, Path real, String name) {
        Path temporary = real.resolveSibling(name);
        Pending.add(temporary);
        try {
            FileChannel channel = FileChannel.open(temporary, EnumSet.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.READ,
                    StandardOpenOption.WRITE));
            return new AtomicFile(target, real, temporary, channel);
        } catch (IOException e) {
            Pending.remove(temporary);
            throw WriteTarget.failure(target, e);
        }
    }

    /** The open temporary file, for reading, writing and seeking. */
    public FileChannel channel() {
        return channel;
    }

    /** An exception for an input/output failure of {@link #channel}, in words for the user. */
    public BadMediaException failure(IOException e) {
        return WriteTarget.failure(named, e);
    }

    /**
     * Flushes the file to its device and renames it onto the target, in one step that other processes see as one.
     *
     * @throws BadMediaException if that fails, for instance for want of space; nothing is left then
     */
    public void commit() {
        try {
            channel.force(false);
            channel.close();
            Files.move(temporary, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            Pending.remove(temporary);
        } catch (IOException e) {
            close();
            throw failure(e);
        }
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            // The contents are being thrown away: a failed last write changes nothing.
        }
        if (Pending.remove(temporary)) {
            Pending.delete(temporary);
        }
    }

    /** Temporary files that exist now, removed when the process is told to stop. */
    private static final class Pending {

        private static final Set<Path> FILES = ConcurrentHashMap.newKeySet();

        static {
            Runtime.getRuntime().addShutdownHook(new Thread(() -> FILES.forEach(Pending::delete), "kinema-remove-temporary-files"));
        }

        static void add(Path file) {
            FILES.add(file);
        }

        static boolean remove(Path file) {
            return FILES.remove(file);
        }

        static void delete(Path file) {
            try {
                Files.deleteIfExists(file);
            } catch (IOException e) {
                // The folder is gone or no longer writable; the reason for closing is already being reported.
            }
        }
    }
}

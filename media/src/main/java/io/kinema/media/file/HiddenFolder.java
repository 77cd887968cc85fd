package io.kinema.media.file;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Owns the lock of a hidden folder in which outputs are made, until it is closed; its maker removes the folder before that. When the process is
 * killed, {@link Leftovers} can tell that the folder is nobody's. Closing twice is harmless.
 */
public final class HiddenFolder implements AutoCloseable {
    private final Path path;
    private final FileChannel lock;

    private HiddenFolder(Path path, FileChannel lock) {
        this.path = path;
        this.lock = lock;
    }

    /** Makes one. It holds a file, {@code lock}, which must stay there. @throws IOException when nothing can be made in this folder */
    public static HiddenFolder in(Path folder) throws IOException {
        HiddenFolder made = named(folder.resolve(Leftovers.newName()));
        if (Leftovers.locked(made.lock, made.path.resolve(Leftovers.LOCK))) {
            return made;
        }
        made.close();
        Files.deleteIfExists(made.path.resolve(Leftovers.LOCK));
        Files.deleteIfExists(made.path);
        return named(folder.resolve(Leftovers.newKeptName()));
    }

    private static HiddenFolder named(Path path) throws IOException {
        Files.createDirectory(path);
        try {
            return new HiddenFolder(path, FileChannel.open(path.resolve(Leftovers.LOCK), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE));
        } catch (IOException full) {
            Files.deleteIfExists(path);
            throw full;
        }
    }

    public Path path() {
        return path;
    }

    @Override
    public void close() {
        try {
            lock.close();
        } catch (IOException e) {
            // Nothing was ever written to it.
        }
    }
}

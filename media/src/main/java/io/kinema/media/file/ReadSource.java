package io.kinema.media.file;

import io.kinema.media.BadMediaException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Where an input comes from: checks a path that is to be read. */
public final class ReadSource {

    private ReadSource() {
    }

    /**
     * Refuses a pipe, a socket or a device before it is opened: opening one may wait for ever, and reading one may never end.
     * A missing file and a folder pass; whoever opens them says what is wrong.
     *
     * @throws BadMediaException if it is neither a plain file nor a folder
     */
    public static void requirePlain(Path file) {
        if (Files.exists(file) && !Files.isRegularFile(file) && !Files.isDirectory(file)) {
            throw new BadMediaException("Cannot read '" + file + "': it is a device or a pipe; save its contents as a plain file and give that.");
        }
    }
}

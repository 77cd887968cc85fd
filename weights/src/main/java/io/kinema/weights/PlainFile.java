package io.kinema.weights;

import java.nio.file.Files;
import java.nio.file.Path;

/** Tells a file from a pipe, a socket or a device: opening one of those may wait for ever, and reading one may never end. */
public final class PlainFile {
    private PlainFile() {
    }

    /** The path itself; a missing file passes, whoever opens it says so. @throws BadWeightsException when it is there and no plain file */
    public static Path require(Path file) {
        if (Files.exists(file) && !Files.isRegularFile(file)) {
            throw new BadWeightsException(file + ": got a " + (Files.isDirectory(file) ? "folder" : "device or a pipe") + ", expected a plain file; give the path of one");
        }
        return file;
    }
}

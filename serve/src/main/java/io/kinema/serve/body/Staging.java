package io.kinema.serve.body;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * Owns a folder for the files of one request until it is closed, which removes it with all that is in it; closing twice is harmless.
 * Names in it are made here, never by a client.
 */
public final class Staging implements AutoCloseable {
    private static final String PREFIX = "request-";

    private final Path root;
    private Path folder;
    private int files;

    /** @param root a folder of this server's own; what earlier processes left there is removed by {@link StagingShare} */
    public Staging(Path root) {
        this.root = root;
    }

    /** A name for a new file; nothing is there yet. */
    public Path newFile() {
        return folder().resolve("file-" + files++);
    }

    /** The folder itself, made when it is first asked for. @throws io.kinema.serve.problem.Problem when there is no room for it */
    public Path folder() {
        if (folder == null) {
            try {
                folder = Files.createTempDirectory(root, PREFIX, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            } catch (IOException full) {
                throw StagedOutput.noRoom();
            }
        }
        return folder;
    }

    /** Removes what an earlier process left, for example because it was killed. */
    static void clear(Path root) {
        try {
            Files.createDirectories(root);
            try (DirectoryStream<Path> left = Files.newDirectoryStream(root, PREFIX + "*")) {
                for (Path one : left) {
                    remove(one);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void remove(Path folder) throws IOException {
        if (Files.isDirectory(folder, java.nio.file.LinkOption.NOFOLLOW_LINKS)) {
            try (DirectoryStream<Path> inside = Files.newDirectoryStream(folder)) {
                for (Path one : inside) {
                    Files.deleteIfExists(one);
                }
            }
        }
        Files.deleteIfExists(folder);
    }

    @Override
    public void close() {
        if (folder == null) {
            return;
        }
        try {
            remove(folder);
            folder = null;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

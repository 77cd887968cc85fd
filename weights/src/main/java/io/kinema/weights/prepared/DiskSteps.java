package io.kinema.weights.prepared;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * The steps by which the cache changes its folder. Each is announced before it is taken, so that a test can end the process between
 * any two of them.
 */
final class DiskSteps {
    private static final String TEMPORARY = ".tmp";

    private final Consumer<String> before;

    /** @param before hears what comes next */
    DiskSteps(Consumer<String> before) {
        this.before = before;
    }

    static DiskSteps unwatched() {
        return new DiskSteps(_ -> {
        });
    }

    /** A folder that only its owner can enter. */
    void createFolder(Path folder) throws IOException {
        before.accept("create " + folder.getFileName());
        Files.createDirectory(folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    }

    FileChannel createFile(Path file) throws IOException {
        before.accept("create " + file.getFileName());
        return FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
    }

    void write(FileChannel channel, ByteBuffer bytes, long at, String what) throws IOException {
        before.accept("write " + what);
        long position = at;
        while (bytes.hasRemaining()) {
            position += channel.write(bytes, position);
        }
    }

    void force(FileChannel channel, String what) throws IOException {
        before.accept("force " + what);
        channel.force(true);
    }

    /** Makes the names in a folder durable. */
    void forceFolder(Path folder) throws IOException {
        before.accept("force folder " + folder.getFileName());
        try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }

    void move(Path from, Path to) throws IOException {
        before.accept("move to " + to.getFileName());
        Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
    }

    /** A small file that is there whole or not at all, and durable when this returns. */
    void writeWhole(Path file, byte[] bytes) throws IOException {
        Path temporary = Files.createTempFile(file.getParent(), file.getFileName().toString(), TEMPORARY);
        try {
            try (FileChannel channel = FileChannel.open(temporary, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS)) {
                write(channel, ByteBuffer.wrap(bytes), 0, file.getFileName().toString());
                force(channel, file.getFileName().toString());
            }
            move(temporary, file);
            forceFolder(file.getParent());
        } finally {
            Files.deleteIfExists(temporary);
        }
    }

    /** Removes a file, a link, or a folder with all that is in it; links are not followed, and what another removes meanwhile is gone. */
    void delete(Path path) throws IOException {
        if (Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
            before.accept("delete " + path.getFileName());
            deleteTree(path);
        }
    }

    private static void deleteTree(Path path) throws IOException {
        if (Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
            for (Path inside : inside(path)) {
                deleteTree(inside);
            }
        }
        Files.deleteIfExists(path);
    }

    private static List<Path> inside(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.toList();
        } catch (NoSuchFileException gone) {
            return List.of();
        }
    }
}

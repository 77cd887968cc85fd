package io.kinema.jobs.storage;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;

/**
 * A storage in a folder: on one machine, or on a file system that all workers share. A file is written under another name, forced
 * to the disk and renamed.
 */
public final class FolderStorage implements OutputStorage {
    private final Path root;

    private FolderStorage(Path root) {
        this.root = root;
    }

    /** Opens a folder; it is made when it is missing. @throws StorageException when it cannot be made or written */
    public static FolderStorage open(Path root) {
        try {
            Files.createDirectories(root);
        } catch (IOException e) {
            throw failure("open the folder", e);
        }
        return new FolderStorage(root);
    }

    @Override
    public StoredFile put(StorageKey key, Path file) {
        Path target = path(key);
        try {
            Files.createDirectories(target.getParent());
            return new StoredFile(key, place(file, target));
        } catch (IOException e) {
            throw failure("store " + key, e);
        }
    }

    @Override
    public Optional<StoredFile> find(StorageKey key) {
        Path file = path(key);
        try {
            return Files.isRegularFile(file) ? Optional.of(new StoredFile(key, Files.size(file))) : Optional.empty();
        } catch (IOException e) {
            throw failure("look at " + key, e);
        }
    }

    @Override
    public Optional<InputStream> read(StorageKey key, long from, long bytes) {
        try {
            FileChannel channel = FileChannel.open(path(key), StandardOpenOption.READ);
            try {
                channel.position(from);
            } catch (IOException | RuntimeException e) {
                channel.close();
                throw e;
            }
            return Optional.of(new Limited(Channels.newInputStream(channel), bytes));
        } catch (NoSuchFileException e) {
            return Optional.empty();
        } catch (IOException e) {
            throw failure("read " + key, e);
        }
    }

    @Override
    public void fetch(StorageKey key, Path target) {
        try {
            place(path(key), target.toAbsolutePath());
        } catch (IOException e) {
            throw failure("read " + key, e);
        }
    }

    @Override
    public void deleteAll(StorageKey prefix) {
        Path folder = path(prefix);
        if (!Files.exists(folder)) {
            return;
        }
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(path);
            }
        } catch (IOException | java.io.UncheckedIOException e) {
            throw failure("remove " + prefix, e);
        }
    }

    @Override
    public List<String> children(StorageKey prefix) {
        Path folder = path(prefix);
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        List<String> names = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
            entries.forEach(entry -> names.add(entry.getFileName().toString()));
        } catch (IOException | DirectoryIteratorException e) {
            throw failure("list " + prefix, e);
        }
        return names.stream().filter(name -> !name.startsWith(".")).sorted().toList();
    }

    /** A copy of {@code source}, renamed into place once it is on the disk. @return its length */
    private static long place(Path source, Path target) throws IOException {
        Path part = target.resolveSibling(".kinema-" + Long.toHexString(ThreadLocalRandom.current().nextLong()) + ".part");
        try {
            Files.copy(source, part);
            try (FileChannel written = FileChannel.open(part, StandardOpenOption.WRITE)) {
                written.force(true);
            }
            long bytes = Files.size(part);
            Files.move(part, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            return bytes;
        } finally {
            Files.deleteIfExists(part);
        }
    }

    private Path path(StorageKey key) {
        return root.resolve(key.value());
    }

    /** The operating system's reason, without the paths that Java puts before it. */
    private static StorageException failure(String what, Exception e) {
        String reason = e instanceof FileSystemException f && f.getReason() != null ? f.getReason() : e.getClass().getSimpleName();
        return new StorageException("storage: cannot " + what + ": " + reason + "; free space or check the storage's permissions", e);
    }

    @Override
    public void close() {
        // Nothing is held open.
    }

    /** Ends after a number of bytes. */
    private static final class Limited extends FilterInputStream {
        private long left;

        Limited(InputStream in, long bytes) {
            super(in);
            this.left = bytes;
        }

        @Override
        public int read() throws IOException {
            if (left <= 0) {
                return -1;
            }
            int value = in.read();
            left -= value < 0 ? left : 1;
            return value;
        }

        @Override
        public int read(byte[] bytes, int offset, int length) throws IOException {
            if (left <= 0) {
                return -1;
            }
            int n = in.read(bytes, offset, (int) Math.min(length, left));
            left -= n < 0 ? left : n;
            return n;
        }

        @Override
        public long skip(long bytes) throws IOException {
            long skipped = in.skip(Math.min(bytes, left));
            left -= skipped;
            return skipped;
        }

        @Override
        public int available() throws IOException {
            return (int) Math.min(in.available(), left);
        }

        @Override
        public boolean markSupported() {
            return false;
        }
    }
}

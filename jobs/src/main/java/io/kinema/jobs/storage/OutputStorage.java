package io.kinema.jobs.storage;

import java.io.InputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Keeps files under keys. All workers and servers of one queue use the same one. Any number of threads may use it.
 *
 * <p>A stored file never changes in place: {@link #put} replaces it as a whole, and whoever reads it meanwhile reads the older one
 * to its end. Every method throws {@link StorageException} when the storage does not do its work.
 */
public interface OutputStorage extends AutoCloseable {
    /** Stores a copy of a file: afterwards it is there as a whole, or nothing has changed. */
    StoredFile put(StorageKey key, Path file);

    /** The file with this key. */
    Optional<StoredFile> find(StorageKey key);

    /**
     * Reads a part of a file.
     *
     * @param from  first byte, 0 to its length
     * @param bytes how many at most; the stream ends earlier where the file does
     * @return empty when there is no such file; close it
     */
    Optional<InputStream> read(StorageKey key, long from, long bytes);

    /** Copies a file to {@code target}, which appears as a whole or not at all. @throws StorageException also when it is not there */
    void fetch(StorageKey key, Path target);

    /** Removes everything that is stored below a prefix, or under the key itself; nothing being there is no error. */
    void deleteAll(StorageKey prefix);

    /** The parts that follow a prefix directly, sorted: for {@code outputs} the ids of jobs that have some. */
    List<String> children(StorageKey prefix);

    /** Lets connections go; what is stored stays. Closing twice is harmless. */
    @Override
    void close();
}

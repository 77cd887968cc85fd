package io.kinema.jobs.storage;

import java.util.Objects;

/**
 * A file in a storage.
 *
 * @param key   its name
 * @param bytes its length
 */
public record StoredFile(StorageKey key, long bytes) {
    public StoredFile {
        Objects.requireNonNull(key, "key");
    }
}

package io.kinema.jobs.worker;

import io.kinema.jobs.storage.OutputStorage;
import io.kinema.jobs.storage.StorageException;
import io.kinema.jobs.storage.StorageKey;
import io.kinema.jobs.storage.StoredFile;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/** A storage that refuses to take some files. */
public final class FailingStorage implements OutputStorage {
    private final OutputStorage storage;
    private final Predicate<StorageKey> refused;

    public FailingStorage(OutputStorage storage, Predicate<StorageKey> refused) {
        this.storage = storage;
        this.refused = refused;
    }

    @Override
    public StoredFile put(StorageKey key, Path file) {
        if (refused.test(key)) {
            throw new StorageException("storage: cannot store " + key + ": Read-only file system; free space or check the storage's permissions", new IOException());
        }
        return storage.put(key, file);
    }

    @Override
    public Optional<StoredFile> find(StorageKey key) {
        return storage.find(key);
    }

    @Override
    public Optional<InputStream> read(StorageKey key, long from, long bytes) {
        return storage.read(key, from, bytes);
    }

    @Override
    public void fetch(StorageKey key, Path target) {
        storage.fetch(key, target);
    }

    @Override
    public void deleteAll(StorageKey prefix) {
        storage.deleteAll(prefix);
    }

    @Override
    public List<String> children(StorageKey prefix) {
        return storage.children(prefix);
    }

    @Override
    public void close() {
        storage.close();
    }
}

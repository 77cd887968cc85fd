package io.kinema.jobs.worker;

import io.kinema.jobs.storage.OutputStorage;
import io.kinema.jobs.storage.StorageException;
import io.kinema.jobs.storage.StorageKey;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Brings the file of saved steps to the storage, on a thread of its own, so that a slow storage holds up neither the engine nor a cancel. When
 * the engine saves faster than the storage takes, steps between are left out. Owns its thread until it is closed, which waits for the
 * last file.
 */
final class StepKeeping implements AutoCloseable {
    private final OutputStorage storage;
    private final StorageKey key;
    private final Path file;
    private final ExecutorService thread = Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().name("kinema-steps").factory());
    private final AtomicBoolean waiting = new AtomicBoolean();

    StepKeeping(OutputStorage storage, StorageKey key, Path file) {
        this.storage = storage;
        this.key = key;
        this.file = file;
    }

    /** Tells that the file is new. */
    void saved() {
        if (waiting.compareAndSet(false, true)) {
            thread.submit(this::keep);
        }
    }

    private void keep() {
        // Before the file is read: one that comes while this one is stored is stored next.
        waiting.set(false);
        try {
            if (Files.exists(file)) {
                storage.put(key, file);
            }
        } catch (StorageException away) {
            // Costs time if this attempt fails later, and nothing if it does not; the next one may do.
        }
    }

    @Override
    public void close() {
        thread.close();
    }
}

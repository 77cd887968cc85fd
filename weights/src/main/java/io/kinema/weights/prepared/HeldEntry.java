package io.kinema.weights.prepared;

import java.io.IOException;
import java.nio.file.Path;

/**
 * Owns the lock on a whole entry that is not mapped yet, until it is mapped or closed; closing twice is harmless.
 */
public final class HeldEntry implements AutoCloseable {
    private final Path folder;
    private final PreparedManifest manifest;
    private final RangeLock lock;
    private boolean mapped;

    /** @param lock shared; owned by the result */
    HeldEntry(Path folder, PreparedManifest manifest, RangeLock lock) {
        this.folder = folder;
        this.manifest = manifest;
        this.lock = lock;
    }

    /** The entry's weights. @return owns the lock from now on @throws IOException when they cannot be mapped */
    public PreparedEntry map() throws IOException {
        PreparedEntry entry = PreparedEntry.map(folder, manifest, lock);
        mapped = true;
        return entry;
    }

    @Override
    public void close() {
        if (!mapped) {
            lock.close();
        }
    }
}

package io.kinema.weights.prepared;

import io.kinema.weights.StoredTensor;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Owns a read-only map of an entry's weights, and the lock that keeps the entry from being evicted, until it is closed; closing twice
 * is harmless, and a tensor used after close throws {@link IllegalStateException}. The pages are those of the file, so all processes
 * that map an entry share them. Safe for use by several threads.
 */
public final class PreparedEntry implements AutoCloseable {
    private final Path file;
    private final Arena arena;
    private final MemorySegment weights;
    private final RangeLock lock;
    private final Map<String, PreparedManifest.Tensor> tensors = new HashMap<>();
    private final long bytes;
    private boolean closed;

    private PreparedEntry(Path file, Arena arena, MemorySegment weights, PreparedManifest manifest, RangeLock lock) {
        this.file = file;
        this.arena = arena;
        this.weights = weights;
        this.lock = lock;
        this.bytes = manifest.bytes();
        manifest.tensors().forEach(tensor -> tensors.put(tensor.name(), tensor));
    }

    /** @param lock shared; owned by the result, and by the caller when this fails */
    static PreparedEntry map(Path folder, PreparedManifest manifest, RangeLock lock) throws IOException {
        Path file = folder.resolve(CacheLayout.WEIGHTS);
        Arena arena = Arena.ofShared();
        try (FileChannel channel = EntryCheck.open(file)) {
            return new PreparedEntry(file, arena, channel.map(FileChannel.MapMode.READ_ONLY, 0, manifest.bytes(), arena), manifest, lock);
        } catch (IOException | RuntimeException e) {
            arena.close();
            throw e;
        }
    }

    /** The tensor that was put under this name, as a view of the map. */
    public Optional<StoredTensor> find(String name) {
        return Optional.ofNullable(tensors.get(name)).map(t -> new StoredTensor(name, t.dtype(), t.shape(), weights.asSlice(t.offset(), t.size()), file));
    }

    /** How many tensors it holds. */
    public int tensors() {
        return tensors.size();
    }

    /** Bytes that are mapped. */
    public long bytes() {
        return bytes;
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            try (lock) {
                arena.close();
            }
        }
    }
}

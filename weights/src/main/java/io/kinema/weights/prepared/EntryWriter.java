package io.kinema.weights.prepared;

import io.kinema.weights.BadWeightsException;
import io.kinema.weights.DType;
import io.kinema.weights.Shape;
import io.kinema.weights.StoredTensor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Owns an entry being built, its folder, its maps and the lock on its name, until it is closed; {@link #publish} puts it into its
 * place, and closing without removes it. Closing twice is harmless. Used by one thread.
 */
public final class EntryWriter implements AutoCloseable {
    private static final long CHUNK = 1 << 26;
    private static final byte[] ZEROS = new byte[PreparedManifest.ALIGNMENT];

    private final CacheLayout layout;
    private final CacheRoom room;
    private final DiskSteps disk;
    private final PreparedKey key;
    private final RangeLock exclusive;
    private final Path folder;
    private final FileChannel channel;
    private final Arena arena = Arena.ofShared();
    private final List<PreparedManifest.Tensor> tensors = new ArrayList<>();
    private long end;
    private boolean closed;
    private boolean published;

    /** @param exclusive owned by the result, and by the caller when this fails */
    EntryWriter(CacheLayout layout, CacheRoom room, DiskSteps disk, PreparedKey key, RangeLock exclusive) throws IOException {
        this.layout = layout;
        this.room = room;
        this.disk = disk;
        this.key = key;
        this.exclusive = exclusive;
        this.folder = layout.building(key.id());
        disk.createFolder(folder);
        this.channel = disk.createFile(folder.resolve(CacheLayout.WEIGHTS));
    }

    /**
     * Writes one tensor.
     *
     * @param data its bytes, contiguous native memory
     * @return a view of what was written, valid until this is closed
     * @throws UncheckedIOException when there is no room for it, or the disk does not take it
     */
    public StoredTensor put(String name, DType dtype, Shape shape, MemorySegment data) {
        try {
            long next = PreparedManifest.aligned(end + data.byteSize());
            room.require(next - end, key.id());
            for (long at = 0; at < data.byteSize(); at += CHUNK) {
                disk.write(channel, data.asSlice(at, Math.min(CHUNK, data.byteSize() - at)).asByteBuffer(), end + at, name);
            }
            disk.write(channel, ByteBuffer.wrap(ZEROS, 0, (int) (next - end - data.byteSize())), end + data.byteSize(), "padding");
            // Hashed as it is in memory, not as it is read back: publishing compares the two.
            tensors.add(new PreparedManifest.Tensor(name, dtype, shape, end, Sha256.hex(data, (int) (next - end - data.byteSize()))));
            MemorySegment view = channel.map(FileChannel.MapMode.READ_ONLY, end, data.byteSize(), arena);
            end = next;
            return new StoredTensor(name, dtype, shape, view, folder.resolve(CacheLayout.WEIGHTS));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** How many tensors were put. */
    public int tensors() {
        return tensors.size();
    }

    /** Bytes that were put. */
    public long bytes() {
        return end;
    }

    /**
     * Makes the entry durable, compares what the disk gives back with what was put, and puts it into its place. Only {@link #close} may
     * follow.
     *
     * @return the entry, to be closed by the caller; empty when another process took it away in the same moment
     * @throws UncheckedIOException when the disk does not take it or gives back something else
     */
    public Optional<PreparedEntry> publish() {
        PreparedManifest manifest = new PreparedManifest(key.text(), end, tensors);
        byte[] text = manifest.toBytes();
        Path entry = layout.entry(key.id());
        try {
            disk.force(channel, CacheLayout.WEIGHTS);
            channel.close();
            long began = ReadyMarker.now();
            EntryCheck.requireContent(folder.resolve(CacheLayout.WEIGHTS), manifest);
            disk.writeWhole(folder.resolve(CacheLayout.MANIFEST), text);
            disk.move(folder, entry);
            disk.forceFolder(layout.root());
            disk.writeWhole(entry.resolve(CacheLayout.READY), new ReadyMarker(Sha256.hex(text), EntryCheck.weights(entry), began).toBytes());
            published = true;
            exclusive.close();
            return shared(entry, manifest);
        } catch (BadWeightsException e) {
            throw new UncheckedIOException(new IOException(e.getMessage(), e));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Between the two locks somebody may evict what nobody holds. */
    private Optional<PreparedEntry> shared(Path entry, PreparedManifest manifest) throws IOException {
        Optional<RangeLock> shared = RangeLock.tryLock(layout.locks(), CacheLayout.position(key.id()), true);
        if (shared.isEmpty() || !(EntryCheck.of(entry, Optional.of(key), EntryCheck.Content.WHEN_CHANGED) instanceof EntryCheck.Verdict.Whole)) {
            shared.ifPresent(RangeLock::close);
            return Optional.empty();
        }
        return Optional.of(PreparedEntry.map(entry, manifest, shared.get()));
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        try (exclusive) {
            arena.close();
            channel.close();
            if (!published) {
                disk.delete(folder);
                disk.delete(layout.entry(key.id()));
            }
        } catch (IOException e) {
            // What cannot be removed now is found by whoever builds or makes room next.
            closed = true;
        }
    }
}

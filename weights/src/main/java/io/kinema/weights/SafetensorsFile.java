package io.kinema.weights;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedSet;

/**
 * Owns the memory map of one safetensors file until it is closed; its tensors are zero-copy views of that map.
 * The whole header is checked before the data is mapped: length, names, dtypes, shapes, spans, holes, overlaps, end of file.
 * Closing twice is harmless; a tensor used after close throws {@link IllegalStateException}.
 */
public final class SafetensorsFile implements TensorSource {
    private static final int LENGTH_BYTES = Long.BYTES;

    private final Path file;
    private final Arena arena;
    private final MemorySegment data;
    private final SafetensorsHeader header;
    private volatile boolean closed;

    private SafetensorsFile(Path file, Arena arena, MemorySegment data, SafetensorsHeader header) {
        this.file = file;
        this.arena = arena;
        this.data = data;
        this.header = header;
    }

    /** Maps {@code file}. @throws BadWeightsException when it is absent, unreadable, unfinished or breaks a rule of the format */
    public static SafetensorsFile open(Path file) {
        requireFinished(PlainFile.require(file));
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            long size = channel.size();
            byte[] json = headerBytes(file, channel, size);
            long dataStart = LENGTH_BYTES + (long) json.length;
            SafetensorsHeader header = SafetensorsHeader.parse(json, size - dataStart, file);
            return map(file, channel, dataStart, size - dataStart, header);
        } catch (IOException e) {
            throw new BadWeightsException(file + ": cannot be read (" + e.getClass().getSimpleName() + ": " + e.getMessage() + "); check the path and its permissions", e);
        }
    }

    /** The strings of {@code __metadata__}; empty when the file has none. */
    public Map<String, String> metadata() {
        return header.metadata();
    }

    @Override
    public SequencedSet<String> names() {
        return Collections.unmodifiableSequencedSet(new LinkedHashSet<>(header.entries().keySet()));
    }

    @Override
    public Optional<StoredTensor> find(String name) {
        if (closed) {
            throw new IllegalStateException(file + " is closed; tensor " + name + " cannot be read any more");
        }
        return Optional.ofNullable(header.entries().get(name)).map(this::view);
    }

    @Override
    public StoredTensor get(String name) {
        return find(name).orElseThrow(() -> ClosestNames.missing(origin(), name, header.entries().keySet()));
    }

    @Override
    public String origin() {
        return file.toString();
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            arena.close();
            closed = true;
        }
    }

    private StoredTensor view(SafetensorsHeader.Entry e) {
        return new StoredTensor(e.name(), e.dtype(), e.shape(), data.asSlice(e.begin(), e.end() - e.begin()), file);
    }

    private static void requireFinished(Path file) {
        if (file.toString().endsWith(Unfinished.SUFFIX)) {
            throw Unfinished.refuse(file);
        }
        if (Files.notExists(file)) {
            Path part = Unfinished.of(file);
            throw Files.exists(part) ? Unfinished.refuse(part)
                    : new BadWeightsException(file + ": no such file; check the path", new NoSuchFileException(file.toString()));
        }
        if (!Files.isRegularFile(file)) {
            throw new BadWeightsException(file + ": got something that is not a regular file, expected a .safetensors file");
        }
    }

    private static byte[] headerBytes(Path file, FileChannel channel, long size) throws IOException {
        if (size < LENGTH_BYTES) {
            throw new BadWeightsException(file + ": got " + size + " bytes, expected at least " + LENGTH_BYTES + "; the file is empty or cut, fetch it again");
        }
        long length = readFully(file, channel, LENGTH_BYTES, 0).order(ByteOrder.LITTLE_ENDIAN).getLong();
        long room = size - LENGTH_BYTES;
        // An unsigned number in the file: -1 and other values past 2^63 come out negative here.
        if (length <= 0 || length > Math.min(room, SafetensorsHeader.LARGEST)) {
            throw new BadWeightsException(file + ": header length " + Long.toUnsignedString(length) + ", expected 1 to "
                    + Math.min(room, SafetensorsHeader.LARGEST) + " (file of " + size + " bytes); not a safetensors file, or cut: fetch it again");
        }
        return readFully(file, channel, (int) length, LENGTH_BYTES).array();
    }

    private static ByteBuffer readFully(Path file, FileChannel channel, int count, long from) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate(count);
        while (buffer.hasRemaining()) {
            if (channel.read(buffer, from + buffer.position()) < 0) {
                throw new BadWeightsException(file + ": the file became shorter while it was read; wait for the download to end");
            }
        }
        return buffer.flip();
    }

    private static SafetensorsFile map(Path file, FileChannel channel, long start, long size, SafetensorsHeader header) throws IOException {
        // Ranks and worker threads share one mapping, so the arena must be a shared one.
        Arena arena = Arena.ofShared();
        try {
            return new SafetensorsFile(file, arena, channel.map(FileChannel.MapMode.READ_ONLY, start, size, arena), header);
        } catch (IOException | RuntimeException e) {
            arena.close();
            throw e;
        }
    }
}

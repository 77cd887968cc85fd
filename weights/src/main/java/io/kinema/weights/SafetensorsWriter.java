package io.kinema.weights;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;

/**
 * Owns a temporary file beside its target until {@link #commit()} renames it over the target; closing without a commit
 * removes it, so a failure leaves the target as it was. Tensors stream: each is written where the header says, whole or part by
 * part, in any order, and never kept. {@link #commitVerified()} reads the file back first. The bytes depend on names, dtypes, shapes, values and metadata only (tensors lie by falling element
 * size, then by name, so every tensor is aligned to its element).
 */
public final class SafetensorsWriter implements AutoCloseable {
    private static final String METADATA = "__metadata__";
    private static final int ALIGNMENT = 8;
    private static final long CHUNK = 1 << 26;
    private static final int READ_BACK = 1 << 22;

    private final Path target;
    private final Path temporary;
    private final FileChannel channel;
    private final SequencedMap<String, SafetensorsHeader.Entry> entries;
    private final Set<String> missing;
    private final long dataStart;
    private final byte[] header;
    /** Of the bytes of every tensor so far, to be compared with what the device gives back. */
    private final Map<String, MessageDigest> digests = new HashMap<>();
    private final Map<String, Long> begun = new HashMap<>();

    /**
     * What will be written.
     *
     * @param name  unique in the file
     * @param dtype element type
     * @param shape sizes, outermost first
     */
    public record Spec(String name, DType dtype, Shape shape) {
    }

    private SafetensorsWriter(Path target, Path temporary, FileChannel channel, SequencedMap<String, SafetensorsHeader.Entry> entries, byte[] header) {
        this.target = target;
        this.temporary = temporary;
        this.channel = channel;
        this.entries = entries;
        this.missing = new HashSet<>(entries.keySet());
        this.header = header;
        this.dataStart = header.length;
    }

    /**
     * Starts a file. The target may exist; it is replaced by {@link #commit()}.
     *
     * @throws IllegalArgumentException for two specs of one name
     * @throws BadWeightsException when the folder cannot be written
     */
    public static SafetensorsWriter create(Path target, Collection<Spec> specs, Map<String, String> metadata) {
        SequencedMap<String, SafetensorsHeader.Entry> entries = layout(specs);
        byte[] header = header(entries, metadata);
        Path temporary = target.resolveSibling("." + target.getFileName() + "." + UUID.randomUUID() + ".tmp");
        try {
            FileChannel channel = FileChannel.open(temporary, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
            SafetensorsWriter writer = new SafetensorsWriter(target, temporary, channel, entries, header);
            return started(writer);
        } catch (IOException e) {
            throw failed(target, e);
        }
    }

    private static SafetensorsWriter started(SafetensorsWriter writer) throws IOException {
        try {
            writer.start();
            return writer;
        } catch (IOException e) {
            writer.close();
            throw e;
        }
    }

    /** Writes everything {@code tensors} holds. */
    public static void write(Path target, Collection<StoredTensor> tensors, Map<String, String> metadata) {
        List<Spec> specs = tensors.stream().map(t -> new Spec(t.name(), t.dtype(), t.shape())).toList();
        try (SafetensorsWriter writer = create(target, specs, metadata)) {
            tensors.forEach(t -> writer.put(t.name(), t.data()));
            writer.commit();
        }
    }

    /** Writes one tensor's bytes. @throws IllegalArgumentException for an unknown name, a second write or another byte count */
    public void put(String name, MemorySegment data) {
        long size = unwritten(name);
        if (data.byteSize() != size) {
            throw new IllegalArgumentException(target + ": tensor " + name + ": got " + data.byteSize() + " bytes, expected " + size);
        }
        append(name, data);
    }

    /** Writes the next bytes of one tensor. @throws IllegalArgumentException for an unknown name or more bytes than it has left */
    public void append(String name, MemorySegment data) {
        long left = unwritten(name);
        if (data.byteSize() > left) {
            throw new IllegalArgumentException(target + ": tensor " + name + ": got " + data.byteSize() + " more bytes, expected at most " + left);
        }
        long from = entries.get(name).end() - left;
        try {
            for (long at = 0; at < data.byteSize(); at += CHUNK) {
                MemorySegment part = data.asSlice(at, Math.min(CHUNK, data.byteSize() - at));
                // Heap arrays of other types than byte have no ByteBuffer view.
                ByteBuffer bytes = part.isNative() ? part.asByteBuffer() : ByteBuffer.wrap(part.toArray(ValueLayout.JAVA_BYTE));
                digests.computeIfAbsent(name, n -> CheckpointIdentity.digest()).update(bytes.duplicate());
                writeFully(bytes, dataStart + from + at);
            }
            begun.merge(name, data.byteSize(), Long::sum);
            if (data.byteSize() == left) {
                missing.remove(name);
            }
        } catch (IOException e) {
            throw failed(target, e);
        }
    }

    private long unwritten(String name) {
        SafetensorsHeader.Entry entry = entries.get(name);
        if (entry == null || !missing.contains(name)) {
            throw new IllegalArgumentException(target + ": tensor " + name + (entry == null ? " was not declared" : " was written before"));
        }
        return entry.end() - entry.begin() - begun.getOrDefault(name, 0L);
    }

    /** Makes the file durable and puts it in the target's place. @throws IllegalStateException when a declared tensor was not written */
    public void commit() {
        requireComplete();
        try {
            channel.force(true);
            channel.close();
            Files.move(temporary, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw failed(target, e);
        }
    }

    /**
     * {@link #commit}, once the file that lies on the device has been read back and found to be what was written.
     *
     * @return hex SHA-256 of the file
     * @throws BadWeightsException when it is not what was written, naming the tensor; the target is then as it was
     */
    public String commitVerified() {
        requireComplete();
        MessageDigest whole = CheckpointIdentity.digest();
        try {
            channel.force(true);
            try (InputStream in = Files.newInputStream(temporary)) {
                require("the header", Arrays.equals(header, read(in, header.length, whole)));
                for (SafetensorsHeader.Entry entry : entries.values()) {
                    MessageDigest found = CheckpointIdentity.digest();
                    long left = entry.end() - entry.begin();
                    while (left > 0) {
                        byte[] part = read(in, (int) Math.min(left, READ_BACK), whole);
                        found.update(part);
                        left -= part.length;
                    }
                    require("tensor " + entry.name(), Arrays.equals(found.digest(), digests.getOrDefault(entry.name(), CheckpointIdentity.digest()).digest()));
                }
            }
        } catch (IOException e) {
            throw failed(target, e);
        }
        commit();
        return CheckpointIdentity.hex(whole);
    }

    private byte[] read(InputStream in, int count, MessageDigest whole) throws IOException {
        byte[] bytes = in.readNBytes(count);
        require("the end of the file", bytes.length == count);
        whole.update(bytes);
        return bytes;
    }

    private void require(String what, boolean same) {
        if (!same) {
            throw new BadWeightsException(target + ": " + what + " was read back other than it was written; the file was discarded, check the disk");
        }
    }

    private void requireComplete() {
        if (!missing.isEmpty()) {
            throw new IllegalStateException(target + ": " + missing.size() + " declared tensors were not written, one is " + missing.iterator().next());
        }
    }

    @Override
    public void close() {
        try {
            channel.close();
            Files.deleteIfExists(temporary);
        } catch (IOException e) {
            throw failed(target, e);
        }
    }

    private void start() throws IOException {
        try {
            writeFully(ByteBuffer.wrap(header), 0);
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    private void writeFully(ByteBuffer bytes, long at) throws IOException {
        long position = at;
        while (bytes.hasRemaining()) {
            position += channel.write(bytes, position);
        }
    }

    private static SequencedMap<String, SafetensorsHeader.Entry> layout(Collection<Spec> specs) {
        List<Spec> sorted = specs.stream()
                .sorted(Comparator.comparingInt((Spec s) -> -s.dtype().bytes()).thenComparing(Spec::name)).toList();
        SequencedMap<String, SafetensorsHeader.Entry> entries = new LinkedHashMap<>();
        long at = 0;
        for (Spec s : sorted) {
            long end = at + s.shape().elements() * s.dtype().bytes();
            if (s.name().equals(METADATA) || entries.put(s.name(), new SafetensorsHeader.Entry(s.name(), s.dtype(), s.shape(), at, end)) != null) {
                throw new IllegalArgumentException("tensor " + s.name() + ": expected a name that is used once and is not " + METADATA);
            }
            at = end;
        }
        return entries;
    }

    /** Length and JSON, padded with spaces so that the data starts at a multiple of 8. */
    private static byte[] header(SequencedMap<String, SafetensorsHeader.Entry> entries, Map<String, String> metadata) {
        ByteArrayOutputStream json = new ByteArrayOutputStream();
        try (JsonGenerator g = new JsonFactory().createGenerator(json)) {
            g.writeStartObject();
            if (!metadata.isEmpty()) {
                g.writeObjectFieldStart(METADATA);
                for (Map.Entry<String, String> m : new TreeMap<>(metadata).entrySet()) {
                    g.writeStringField(m.getKey(), m.getValue());
                }
                g.writeEndObject();
            }
            for (SafetensorsHeader.Entry e : entries.values()) {
                g.writeObjectFieldStart(e.name());
                g.writeStringField("dtype", e.dtype().name());
                g.writeFieldName("shape");
                g.writeArray(e.shape().toArray(), 0, e.shape().rank());
                g.writeFieldName("data_offsets");
                g.writeArray(new long[] {e.begin(), e.end()}, 0, 2);
                g.writeEndObject();
            }
            g.writeEndObject();
        } catch (IOException e) {
            throw new IllegalStateException("writing to memory failed", e);
        }
        while (json.size() % ALIGNMENT != 0) {
            json.write(' ');
        }
        ByteBuffer out = ByteBuffer.allocate(Long.BYTES + json.size()).order(ByteOrder.LITTLE_ENDIAN);
        return out.putLong(json.size()).put(json.toByteArray()).array();
    }

    private static BadWeightsException failed(Path target, IOException e) {
        return new BadWeightsException(target + ": cannot be written (" + e.getClass().getSimpleName() + ": " + e.getMessage()
                + "); check the folder, its permissions and the free space", e);
    }
}

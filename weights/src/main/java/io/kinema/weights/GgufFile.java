package io.kinema.weights;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
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
 * Owns the memory map of one GGUF file until it is closed. Its header is checked whole before any tensor is handed out. F32,
 * F16, BF16 and the like are zero-copy views; {@link #matrix} gives blocks as they are stored, to be decoded by whoever
 * multiplies with them, while {@link #get} decodes a coded tensor whole and keeps it. Closing twice is harmless; a tensor used
 * after close throws {@link IllegalStateException}.
 */
public final class GgufFile implements TensorSource {
    private final Path file;
    private final Arena arena;
    private final MemorySegment bytes;
    private final GgufHeader header;
    private final DecodedTensors decoded = new DecodedTensors();
    private volatile boolean closed;

    private GgufFile(Path file, Arena arena, MemorySegment bytes, GgufHeader header) {
        this.file = file;
        this.arena = arena;
        this.bytes = bytes;
        this.header = header;
    }

    /** True when the file begins as a GGUF file does, whatever its name. @throws BadWeightsException when it cannot be read */
    public static boolean recognises(Path file) {
        if (!Files.isRegularFile(file)) {
            return false;
        }
        try (InputStream in = Files.newInputStream(file)) {
            return new String(in.readNBytes(GgufHeader.MAGIC.length()), StandardCharsets.ISO_8859_1).equals(GgufHeader.MAGIC);
        } catch (IOException e) {
            throw unreadable(file, e);
        }
    }

    /** Maps {@code file}. @throws BadWeightsException when it is absent, unreadable or breaks a rule of the format */
    public static GgufFile open(Path file) {
        if (Files.notExists(PlainFile.require(file))) {
            throw new BadWeightsException(file + ": no such file; check the path", new NoSuchFileException(file.toString()));
        }
        // Ranks and worker threads share one mapping, so the arena must be a shared one.
        Arena arena = Arena.ofShared();
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            MemorySegment bytes = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
            return new GgufFile(file, arena, bytes, GgufHeader.parse(file, bytes));
        } catch (IOException e) {
            arena.close();
            throw unreadable(file, e);
        } catch (RuntimeException e) {
            arena.close();
            throw e;
        }
    }

    /** Numbers and short texts among the file's fields, as text. */
    public Map<String, String> metadata() {
        return header.metadata();
    }

    @Override
    public SequencedSet<String> names() {
        return Collections.unmodifiableSequencedSet(new LinkedHashSet<>(header.entries().keySet()));
    }

    @Override
    public Optional<TensorHeader> header(String name) {
        return entry(name).map(e -> new TensorHeader(name, e.shape(), e.type().plain(), e.type().name(), e.end() - e.begin(),
                e.type().plain().isPresent() || e.type().code().isPresent(), file));
    }

    @Override
    public Optional<StoredTensor> find(String name) {
        return entry(name).map(e -> plain(e).orElseGet(() -> decoded.of(name, n -> matrix(e), e.shape())));
    }

    @Override
    public StoredTensor get(String name) {
        return find(name).orElseThrow(() -> missing(name));
    }

    @Override
    public Shape shape(String name) {
        return entry(name).orElseThrow(() -> missing(name)).shape();
    }

    @Override
    public StoredMatrix matrix(String name, long from, long to) {
        GgufHeader.Entry e = entry(name).orElseThrow(() -> missing(name));
        if (e.shape().rank() != 2 || e.type().plain().isPresent()) {
            return MatrixCompanions.rows(this, name, from, to);
        }
        return matrix(e).rows(from, to);
    }

    @Override
    public String origin() {
        return file.toString();
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            decoded.close();
            arena.close();
        }
    }

    private Optional<GgufHeader.Entry> entry(String name) {
        if (closed) {
            throw new IllegalStateException(file + " is closed; tensor " + name + " cannot be read any more");
        }
        return Optional.ofNullable(header.entries().get(name));
    }

    private Optional<StoredTensor> plain(GgufHeader.Entry e) {
        return e.type().plain().map(dtype -> new StoredTensor(e.name(), dtype, e.shape(), data(e), file));
    }

    /** The tensor's values as a matrix whose rows are its last axis. */
    private EncodedMatrix matrix(GgufHeader.Entry e) {
        BlockCode code = e.type().code().orElseThrow(() -> new BadWeightsException(file + ": tensor " + e.name() + " is " + e.type()
                + ", which cannot be read; understood are " + GgufType.readable() + ": use a file of one of these types"));
        long columns = e.shape().rank() == 0 ? 1 : e.shape().dim(-1);
        return new GgufMatrix(e.name(), code, data(e), 0, e.shape().elements() / columns, columns, file);
    }

    private MemorySegment data(GgufHeader.Entry e) {
        return bytes.asSlice(e.begin(), e.end() - e.begin());
    }

    private BadWeightsException missing(String name) {
        return ClosestNames.missing(origin(), name, header.entries().keySet());
    }

    private static BadWeightsException unreadable(Path file, IOException e) {
        return new BadWeightsException(file + ": cannot be read (" + e.getClass().getSimpleName() + ": " + e.getMessage() + "); check the path and its permissions", e);
    }
}

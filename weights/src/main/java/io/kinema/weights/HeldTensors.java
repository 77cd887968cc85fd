package io.kinema.weights;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.stream.LongStream;

/**
 * Owns another source and copies of its tensors, in memory of the caller's choice, until it is closed; closing twice is harmless.
 * A tensor is copied when it is first read, and then kept: all readers share the one copy, and it stays when one of them is done. Encoded
 * matrices, which products decode on the host, stay where the source has them.
 */
public final class HeldTensors implements TensorSource {
    private static final long SMALLEST_CHUNK = 1L << 20;
    private static final long LARGEST_CHUNK = 64L << 20;
    private static final long ALIGNMENT = 256;
    private static final long PIECE = 4L << 20;

    private final TensorSource base;
    private final Memory memory;
    private final Predicate<String> which;
    private final Arena arena = Arena.ofShared();
    private final Map<Key, StoredTensor> held = new ConcurrentHashMap<>();
    private MemorySegment chunk = MemorySegment.NULL;
    private long top;
    private long bytes;
    private boolean closed;

    /** Where copies lie. */
    @FunctionalInterface
    public interface Memory {
        /** Ordinary memory. */
        Memory PAGEABLE = (bytes, owner) -> owner.allocate(bytes, ALIGNMENT);

        /** @param owner frees it when it is closed */
        MemorySegment allocate(long bytes, Arena owner);
    }

    /** Rows of a tensor under its name in the file. */
    private record Key(String name, String stored, long from, long to) {
    }

    private HeldTensors(TensorSource base, Memory memory, Predicate<String> which) {
        this.base = base;
        this.memory = memory;
        this.which = which;
    }

    /** Copies nothing yet. @param base closed with the result */
    public static HeldTensors of(TensorSource base, Memory memory) {
        return of(base, memory, _ -> true);
    }

    /** The same for tensors whose names pass; others are read where the base has them. */
    public static HeldTensors of(TensorSource base, Memory memory, Predicate<String> which) {
        return new HeldTensors(base, memory, which);
    }

    /** Bytes of the copies made so far. */
    public synchronized long heldBytes() {
        return bytes;
    }

    @Override
    public SequencedSet<String> names() {
        return base.names();
    }

    @Override
    public Optional<StoredTensor> find(String name) {
        return base.find(name).map(stored -> !which.test(name) ? stored : held(name, stored, 0, rowsOf(stored.shape())));
    }

    @Override
    public StoredTensor get(String name) {
        return find(name).orElseGet(() -> base.get(name));
    }

    @Override
    public Optional<TensorHeader> header(String name) {
        return base.header(name);
    }

    @Override
    public Shape shape(String name) {
        return base.shape(name);
    }

    @Override
    public StoredTensor rows(String name, long from, long to) {
        return !which.test(name) ? base.rows(name, from, to) : inOrder(name) ? get(name).rows(from, to) : held(name, base.rows(name, from, to), from, to);
    }

    @Override
    public StoredMatrix matrix(String name, long from, long to) {
        if (!which.test(name)) {
            return base.matrix(name, from, to);
        }
        long all = base.shape(name).dim(0);
        boolean whole = inOrder(name);
        return switch (whole ? base.matrix(name, 0, all) : base.matrix(name, from, to)) {
            case FloatMatrix floats when whole -> new FloatMatrix(held(name, floats.tensor(), 0, all)).rows(from, to);
            case FloatMatrix floats -> new FloatMatrix(held(name, floats.tensor(), from, to));
            case Int8Matrix int8 when whole -> held(name, int8, 0, all).rows(from, to);
            case Int8Matrix int8 -> held(name, int8, from, to);
            case EncodedMatrix encoded when whole -> encoded.rows(from, to);
            case EncodedMatrix encoded -> encoded;
        };
    }

    @Override
    public long runEnd(String name, long from, long to) {
        return base.runEnd(name, from, to);
    }

    @Override
    public String origin() {
        return base.origin();
    }

    private boolean inOrder(String name) {
        long all = base.shape(name).dim(0);
        return base.runEnd(name, 0, all) == all;
    }

    private static long rowsOf(Shape shape) {
        return shape.rank() == 0 ? 1 : shape.dim(0);
    }

    private Int8Matrix held(String name, Int8Matrix matrix, long from, long to) {
        return new Int8Matrix(held(name, matrix.values(), from, to), held(name, matrix.scales(), from, to), matrix.rotation());
    }

    private StoredTensor held(String name, StoredTensor stored, long from, long to) {
        return held.computeIfAbsent(new Key(name, stored.name(), from, to), _ -> {
            MemorySegment copy = room(stored.data().byteSize());
            copy(stored.data(), copy);
            return new StoredTensor(stored.name(), stored.dtype(), stored.shape(), copy.asReadOnly(), stored.file());
        });
    }

    /** Piece by piece, because one thread does not reach the memory's rate. */
    private static void copy(MemorySegment from, MemorySegment to) {
        long size = from.byteSize();
        LongStream.range(0, Math.ceilDiv(size, PIECE)).parallel().forEach(piece -> {
            long at = piece * PIECE;
            MemorySegment.copy(from, at, to, at, Math.min(PIECE, size - at));
        });
    }

    private synchronized MemorySegment room(long size) {
        if (closed) {
            throw new IllegalStateException(origin() + " is closed; its tensors cannot be read any more");
        }
        long padded = Math.max(ALIGNMENT, (size + ALIGNMENT - 1) & -ALIGNMENT);
        long next = Math.clamp(bytes, SMALLEST_CHUNK, LARGEST_CHUNK);
        if (padded > next / 2) {
            bytes += padded;
            return memory.allocate(padded, arena).asSlice(0, size);
        }
        if (top + padded > chunk.byteSize()) {
            chunk = memory.allocate(next, arena);
            bytes += next;
            top = 0;
        }
        MemorySegment room = chunk.asSlice(top, size);
        top += padded;
        return room;
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            held.clear();
            arena.close();
            base.close();
        }
    }
}

package io.kinema.weights;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.SequencedSet;

/**
 * Owns named tensors made in memory until it is closed: what tests, converters and small tables use in place of a file.
 * Closing twice is harmless; a tensor used after close throws {@link IllegalStateException}.
 */
public final class MemoryTensors implements TensorSource {
    private final String origin;
    private final Arena arena;
    private final SequencedMap<String, StoredTensor> tensors;
    private volatile boolean closed;

    private MemoryTensors(String origin, Arena arena, SequencedMap<String, StoredTensor> tensors) {
        this.origin = origin;
        this.arena = arena;
        this.tensors = tensors;
    }

    /** @param origin a short description for messages */
    public static Builder builder(String origin) {
        return new Builder(origin);
    }

    @Override
    public SequencedSet<String> names() {
        return Collections.unmodifiableSequencedSet(new LinkedHashSet<>(tensors.keySet()));
    }

    @Override
    public Optional<StoredTensor> find(String name) {
        if (closed) {
            throw new IllegalStateException(origin + " is closed; tensor " + name + " cannot be read any more");
        }
        return Optional.ofNullable(tensors.get(name));
    }

    @Override
    public StoredTensor get(String name) {
        return find(name).orElseThrow(() -> ClosestNames.missing(origin, name, tensors.keySet()));
    }

    @Override
    public String origin() {
        return origin;
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            arena.close();
            closed = true;
        }
    }

    /** Collects tensors; owns nothing after {@link #build()}. Used by one thread. */
    public static final class Builder {
        private final String origin;
        private final Arena arena = Arena.ofShared();
        private final SequencedMap<String, StoredTensor> tensors = new LinkedHashMap<>();

        private Builder(String origin) {
            this.origin = origin;
        }

        /** Adds a copy of {@code data}. @throws IllegalArgumentException when the byte count or a name does not fit */
        public Builder put(String name, DType dtype, MemorySegment data, long... dims) {
            Shape shape = Shape.of(dims);
            MemorySegment copy = arena.allocate(Math.max(1, data.byteSize()), 64).asSlice(0, data.byteSize());
            copy.copyFrom(data);
            if (tensors.putIfAbsent(name, new StoredTensor(name, dtype, shape, copy.asReadOnly(), Path.of(origin))) != null) {
                throw new IllegalArgumentException(origin + ": tensor " + name + " was added twice, expected once");
            }
            return this;
        }

        /** Adds an F32 tensor with a copy of {@code values}. */
        public Builder floats(String name, float[] values, long... dims) {
            return put(name, DType.F32, MemorySegment.ofArray(values), dims);
        }

        /** Adds a tensor of {@code dtype} (F32, F16, BF16 or F64) with {@code values} rounded to nearest even. */
        public Builder rounded(String name, DType dtype, float[] values, long... dims) {
            MemorySegment out = MemorySegment.ofArray(new byte[Math.multiplyExact(values.length, dtype.bytes())]);
            FloatConversion.convert(DType.F32, MemorySegment.ofArray(values), dtype, out, values.length);
            return put(name, dtype, out, dims);
        }

        /** Adds an I32 tensor with a copy of {@code values}. */
        public Builder ints(String name, int[] values, long... dims) {
            return put(name, DType.I32, MemorySegment.ofArray(values), dims);
        }

        /** The source, which now owns the memory; the builder is spent. */
        public MemoryTensors build() {
            return new MemoryTensors(origin, arena, tensors);
        }
    }
}

package io.kinema.weights;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.SequencedSet;
import java.util.stream.IntStream;

/**
 * Owns seeded pseudo-random values that stand in for a network's weights, so that its speed and memory can be measured at
 * full size without a checkpoint, until it is closed; closing twice is harmless. There is one stretch of values for each
 * dtype, as long as the largest tensor; a tensor is a view of it that begins where its name's hash says. Values are normal
 * with a deviation of {@link #DEVIATION}; vectors of norms are ones. What such a network computes means nothing.
 */
public final class RandomTensors implements TensorSource {
    /** Standard deviation of the values. */
    public static final float DEVIATION = 0.02f;

    private static final List<DType> KINDS = List.of(DType.F32, DType.F16, DType.BF16);
    private static final int LINE = 256;
    private static final int SPARE_LINES = 4096;
    private static final int PIECE = 1 << 20;
    private static final int BFLOAT16_SHIFT = 16;

    private final String origin;
    private final Arena arena = Arena.ofShared();
    private final SequencedMap<String, StoredTensor> tensors = new LinkedHashMap<>();
    private boolean closed;

    /**
     * One tensor to stand in for.
     *
     * @param dtype F32, F16 or BF16
     */
    public record Entry(String name, DType dtype, Shape shape) {
        boolean ones() {
            return shape.rank() == 1 && name.contains("norm") && name.endsWith("weight");
        }
    }

    private RandomTensors(String origin) {
        this.origin = origin;
    }

    /**
     * @param origin a short description for messages
     * @param seed   the same seed gives the same values
     */
    public static RandomTensors of(String origin, Iterable<Entry> entries, long seed) {
        RandomTensors made = new RandomTensors(origin);
        for (DType dtype : KINDS) {
            made.add(entries, dtype, seed);
        }
        return made;
    }

    private void add(Iterable<Entry> entries, DType dtype, long seed) {
        long largest = 0;
        for (Entry e : entries) {
            if (!KINDS.contains(e.dtype())) {
                throw new IllegalArgumentException(origin + ": random tensor " + e.name() + " got " + e.dtype() + ", expected F32, F16 or BF16");
            }
            largest = Math.max(largest, e.dtype() == dtype ? e.shape().elements() * dtype.bytes() : 0);
        }
        MemorySegment values = arena.allocate(largest + (long) LINE * SPARE_LINES, LINE);
        fill(values, dtype, seed);
        MemorySegment ones = arena.allocate(Math.max(1, largestVector(entries) * dtype.bytes()), LINE);
        fillOnes(ones, dtype);
        for (Entry e : entries) {
            if (e.dtype() == dtype) {
                long bytes = e.shape().elements() * dtype.bytes();
                long from = (long) Math.floorMod(e.name().hashCode(), SPARE_LINES) * LINE;
                MemorySegment data = e.ones() ? ones.asSlice(0, bytes) : values.asSlice(from, bytes);
                tensors.put(e.name(), new StoredTensor(e.name(), dtype, e.shape(), data.asReadOnly(), Path.of(origin)));
            }
        }
    }

    private static long largestVector(Iterable<Entry> entries) {
        long largest = 0;
        for (Entry e : entries) {
            largest = Math.max(largest, e.ones() ? e.shape().elements() : 0);
        }
        return largest;
    }

    private static void fillOnes(MemorySegment data, DType dtype) {
        for (long i = 0; i < data.byteSize() / dtype.bytes(); i++) {
            put(data, dtype, i, 1f);
        }
    }

    /** Piece by piece, each from its own seed, so that threads do not matter. */
    private static void fill(MemorySegment data, DType dtype, long seed) {
        long count = data.byteSize() / dtype.bytes();
        int pieces = Math.toIntExact(Math.ceilDiv(count, PIECE));
        IntStream.range(0, pieces).parallel().forEach(p -> {
            long state = mix(seed + p);
            for (long i = (long) p * PIECE; i < Math.min(count, (p + 1L) * PIECE); i++) {
                state = state * 6364136223846793005L + 1442695040888963407L;
                put(data, dtype, i, normal(mix(state)));
            }
        });
    }

    private static long mix(long z) {
        long y = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
        long x = (y ^ (y >>> 27)) * 0x94d049bb133111ebL;
        return x ^ (x >>> 31);
    }

    /** The sum of four uniform 16-bit numbers, which is near enough to normal for a stand-in. */
    private static float normal(long bits) {
        long sum = (bits & 0xffff) + (bits >>> 16 & 0xffff) + (bits >>> 32 & 0xffff) + (bits >>> 48);
        return (sum / 65536f - 2f) * 1.7320508f * DEVIATION;
    }

    private static void put(MemorySegment data, DType dtype, long i, float value) {
        switch (dtype) {
            case F32 -> data.set(ValueLayout.JAVA_FLOAT, i * Float.BYTES, value);
            case F16 -> data.set(ValueLayout.JAVA_SHORT, i * Short.BYTES, Float.floatToFloat16(value));
            default -> data.set(ValueLayout.JAVA_SHORT, i * Short.BYTES, (short) ((Float.floatToRawIntBits(value) + 0x8000) >>> BFLOAT16_SHIFT));
        }
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
            closed = true;
            arena.close();
        }
    }
}

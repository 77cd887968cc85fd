package io.kinema.weights;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.SequencedSet;
import java.util.stream.IntStream;

/**
 * Owns seeded pseudo-random values that stand in for a network's weights, so that its speed and memory can be measured at
 * full size without a checkpoint, until it is closed; closing twice is harmless. There is one stretch of values for each
 * dtype, as long as the largest tensor, made when the first tensor of it is asked for; a tensor is a view of it that begins
 * where its name's hash says. Values are normal with a deviation of {@link #DEVIATION}; vectors of norms are ones. What such
 * a network computes means nothing.
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
    private final long seed;
    private final Arena arena = Arena.ofShared();
    private final SequencedMap<String, Entry> entries = new LinkedHashMap<>();
    private final Map<DType, Stretches> stretches = new EnumMap<>(DType.class);
    private boolean closed;

    /** The values that tensors of one dtype are views of. */
    private record Stretches(MemorySegment normal, MemorySegment ones) {
    }

    /**
     * One tensor to stand in for.
     *
     * @param dtype F32, F16 or BF16
     */
    public record Entry(String name, DType dtype, Shape shape) {
        long bytes() {
            return shape.elements() * dtype.bytes();
        }

        boolean ones() {
            return shape.rank() == 1 && name.contains("norm") && name.endsWith("weight");
        }
    }

    private RandomTensors(String origin, long seed) {
        this.origin = origin;
        this.seed = seed;
    }

    /**
     * @param origin a short description for messages
     * @param seed   the same seed gives the same values
     */
    public static RandomTensors of(String origin, Iterable<Entry> entries, long seed) {
        RandomTensors made = new RandomTensors(origin, seed);
        for (Entry e : entries) {
            if (!KINDS.contains(e.dtype())) {
                throw new IllegalArgumentException(origin + ": random tensor " + e.name() + " got " + e.dtype() + ", expected F32, F16 or BF16");
            }
            made.entries.put(e.name(), e);
        }
        return made;
    }

    private synchronized StoredTensor view(Entry e) {
        requireOpen(e.name());
        Stretches values = stretches.computeIfAbsent(e.dtype(), this::stretches);
        long from = (long) Math.floorMod(e.name().hashCode(), SPARE_LINES) * LINE;
        MemorySegment data = e.ones() ? values.ones().asSlice(0, e.bytes()) : values.normal().asSlice(from, e.bytes());
        return new StoredTensor(e.name(), e.dtype(), e.shape(), data.asReadOnly(), Path.of(origin));
    }

    private Stretches stretches(DType dtype) {
        List<Entry> all = entries.values().stream().filter(e -> e.dtype() == dtype).toList();
        MemorySegment normal = arena.allocate(all.stream().mapToLong(Entry::bytes).max().orElse(0) + (long) LINE * SPARE_LINES, LINE);
        fill(normal, dtype, seed);
        MemorySegment ones = arena.allocate(Math.max(1, all.stream().filter(Entry::ones).mapToLong(Entry::bytes).max().orElse(0)), LINE);
        fillOnes(ones, dtype);
        return new Stretches(normal, ones);
    }

    private void requireOpen(String name) {
        if (closed) {
            throw new IllegalStateException(origin + " is closed; tensor " + name + " cannot be read any more");
        }
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
        return Collections.unmodifiableSequencedSet(new LinkedHashSet<>(entries.keySet()));
    }

    @Override
    public synchronized Optional<StoredTensor> find(String name) {
        requireOpen(name);
        return Optional.ofNullable(entries.get(name)).map(this::view);
    }

    @Override
    public synchronized Optional<TensorHeader> header(String name) {
        requireOpen(name);
        return Optional.ofNullable(entries.get(name))
                .map(e -> new TensorHeader(name, e.shape(), Optional.of(e.dtype()), e.dtype().name(), e.bytes(), true, Path.of(origin)));
    }

    @Override
    public Shape shape(String name) {
        return header(name).orElseThrow(() -> missing(name)).shape();
    }

    @Override
    public StoredTensor get(String name) {
        return find(name).orElseThrow(() -> missing(name));
    }

    private BadWeightsException missing(String name) {
        return ClosestNames.missing(origin, name, entries.keySet());
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

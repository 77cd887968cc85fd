package io.kinema.weights.prepared;

import io.kinema.weights.DType;
import io.kinema.weights.Shape;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;

/** A process that wants an entry, and one that dies while it makes it. */
final class CacheChild {
    static final int TENSORS = 5;
    static final int DIED = 42;
    private static final Duration PATIENCE = Duration.ofMinutes(10);

    private CacheChild() {
    }

    /**
     * Arguments: the folder, the source file, the number of the step before which to die, none when negative, and which steps count, as a
     * regular expression of their beginning. Prints the outcome and how many steps counted.
     */
    public static void main(String[] arguments) throws IOException {
        if (arguments[2].equals("hold")) {
            hold(new PreparedCache(Path.of(arguments[0]), CacheLimits.DEFAULTS), key(Path.of(arguments[1])));
            return;
        }
        int last = Integer.parseInt(arguments[2]);
        AtomicInteger step = new AtomicInteger();
        Pattern counted = Pattern.compile(arguments[3]);
        DiskSteps disk = new DiskSteps(what -> {
            if (counted.matcher(what).lookingAt() && step.getAndIncrement() == last) {
                Runtime.getRuntime().halt(DIED);
            }
        });
        PreparedCache cache = new PreparedCache(Path.of(arguments[0]), CacheLimits.DEFAULTS, disk);
        Outcome outcome = want(cache, key(Path.of(arguments[1])));
        System.out.println(outcome.how() + " " + outcome.hashes() + " " + step.get());
    }

    /** What {@link #main} does when its third argument says so: holds the entry until its input ends, then reads it once more. */
    private static void hold(PreparedCache cache, PreparedKey key) throws IOException {
        try (HeldEntry held = ((PreparedCache.Lookup.Found) cache.look(key, PATIENCE, _ -> {
        })).entry(); PreparedEntry entry = held.map()) {
            System.out.println("holds " + hashes(entry));
            System.in.readAllBytes();
            System.out.println("held " + hashes(entry));
        }
    }

    record Outcome(String how, Map<String, String> hashes) {
    }

    static PreparedKey key(Path source) throws IOException {
        return PreparedKey.of("test", Map.of("rounding", "f16"), List.of(source));
    }

    /** What an engine does: takes what is there, or makes it. */
    static Outcome want(PreparedCache cache, PreparedKey key) {
        return switch (cache.look(key, PATIENCE, _ -> {
        })) {
            case PreparedCache.Lookup.Found(HeldEntry held) -> {
                try (held; PreparedEntry entry = held.map()) {
                    yield new Outcome("found", hashes(entry));
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
            case PreparedCache.Lookup.Missing(EntryWriter writer, var _) -> {
                try (writer) {
                    put(writer);
                    try (PreparedEntry entry = writer.publish().orElseThrow()) {
                        yield new Outcome("built", hashes(entry));
                    }
                }
            }
            case PreparedCache.Lookup.Unusable(String why) -> new Outcome("unusable: " + why, Map.of());
        };
    }

    static void put(EntryWriter writer) {
        for (int i = 0; i < TENSORS; i++) {
            try (Arena arena = Arena.ofConfined()) {
                writer.put("t" + i, DType.F16, Shape.of(rows(i), 33), bytes(arena, i));
            }
        }
    }

    /** What a good entry gives. */
    static Map<String, String> expected() {
        Map<String, String> hashes = new TreeMap<>();
        for (int i = 0; i < TENSORS; i++) {
            try (Arena arena = Arena.ofConfined()) {
                hashes.put("t" + i, Sha256.hex(bytes(arena, i)));
            }
        }
        return hashes;
    }

    static Map<String, String> hashes(PreparedEntry entry) {
        Map<String, String> hashes = new TreeMap<>();
        for (int i = 0; i < TENSORS; i++) {
            entry.find("t" + i).ifPresent(tensor -> hashes.put(tensor.name(), Sha256.hex(tensor.data())));
        }
        return hashes;
    }

    private static int rows(int tensor) {
        return 40 + 7 * tensor;
    }

    private static MemorySegment bytes(Arena arena, int tensor) {
        byte[] values = new byte[rows(tensor) * 33 * 2];
        new Random(tensor).nextBytes(values);
        MemorySegment segment = arena.allocate(values.length, 64);
        MemorySegment.copy(values, 0, segment, ValueLayout.JAVA_BYTE, 0, values.length);
        return segment;
    }

    /** Starts one that lives. */
    static Process start(Path folder, Path source) throws IOException {
        return start(folder, source, "-1", "");
    }

    /** Starts one that holds what is there. */
    static Process holding(Path folder, Path source) throws IOException {
        return start(folder, source, "hold", "");
    }

    /** Starts one that dies before a step. */
    static Process start(Path folder, Path source, int lastStep, String counted) throws IOException {
        return start(folder, source, "" + lastStep, counted);
    }

    private static Process start(Path folder, Path source, String what, String counted) throws IOException {
        List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx64m", "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path"), CacheChild.class.getName(),
                folder.toString(), source.toString(), what, counted));
        return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }
}

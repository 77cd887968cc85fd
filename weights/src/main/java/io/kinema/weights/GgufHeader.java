package io.kinema.weights;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.TreeMap;

/**
 * What stands before the data of a GGUF file (versions 2 and 3, little-endian), read and checked against the file's size.
 * Sizes are listed innermost first in the file and outermost first here. A tensor that was reshaped so that its rows are whole
 * blocks has its own shape in the field {@code comfy.gguf.orig_shape.NAME}.
 *
 * @param entries  tensors by name, in the order of their data
 * @param metadata scalar and text fields, as text
 */
record GgufHeader(SequencedMap<String, Entry> entries, Map<String, String> metadata) {
    static final String MAGIC = "GGUF";
    private static final int MAGIC_BITS = 0x46554747;
    private static final int MOST_AXES = 4;
    private static final int LONGEST_NAME = 1024;
    private static final int LONGEST_KEY = 65535;
    private static final int LONGEST_KEPT = 4096;
    private static final int DEEPEST = 4;
    private static final int DEFAULT_ALIGNMENT = 32;
    private static final int WIDEST_ALIGNMENT = 1 << 20;
    private static final String ALIGNMENT = "general.alignment";
    private static final String ORIGINAL_SHAPE = "comfy.gguf.orig_shape.";
    /** Length, type and one byte; length, axis count, one size, type and offset. */
    private static final long SMALLEST_FIELD = 8 + 4 + 1;
    private static final long SMALLEST_TENSOR = 8 + 4 + 4 + 8;

    /**
     * One tensor.
     *
     * @param shape sizes, outermost first
     * @param begin byte in the file
     * @param end   byte in the file
     */
    record Entry(String name, GgufType type, Shape shape, long begin, long end) {
    }

    /** @throws BadWeightsException when any rule of the format is broken */
    static GgufHeader parse(Path file, MemorySegment bytes) {
        return new Reader(file, bytes).read();
    }

    /** State of one parse. */
    private static final class Reader {
        private record Listed(String name, GgufType type, long[] sizes, long offset) {
        }

        private final GgufCursor in;
        private final long size;
        private final Map<String, String> metadata = new TreeMap<>();
        private final Map<String, long[]> originalShapes = new HashMap<>();
        private final Map<String, Listed> listed = new LinkedHashMap<>();

        Reader(Path file, MemorySegment bytes) {
            this.in = new GgufCursor(file, bytes);
            this.size = bytes.byteSize();
        }

        GgufHeader read() {
            if (in.int32("the magic number") != MAGIC_BITS) {
                throw in.bad("the file does not begin with " + MAGIC);
            }
            int version = in.int32("the version");
            if (version != 2 && version != 3) {
                throw in.bad("got GGUF version " + (Integer.reverseBytes(version) == 3 ? "3 in big-endian order" : Integer.toUnsignedString(version))
                        + ", expected 2 or 3 in little-endian order");
            }
            long tensors = in.count("the number of tensors", SMALLEST_TENSOR);
            long fields = in.count("the number of fields", SMALLEST_FIELD);
            for (long i = 0; i < fields; i++) {
                field();
            }
            for (long i = 0; i < tensors; i++) {
                tensor();
            }
            return new GgufHeader(laidOut(), Map.copyOf(metadata));
        }

        private void field() {
            String key = in.text("the name of a field", LONGEST_KEY);
            int type = in.int32("the type of field " + key);
            if (key.startsWith(ORIGINAL_SHAPE)) {
                if (originalShapes.put(key.substring(ORIGINAL_SHAPE.length()), originalShape(key, type)) != null) {
                    throw in.bad("field " + key + " appears twice");
                }
                return;
            }
            String value = value(key, type, 0).orElse("");
            if (metadata.put(key, value) != null) {
                throw in.bad("field " + key + " appears twice");
            }
        }

        /** The value as text; empty for lists and long text, which are skipped. */
        private Optional<String> value(String key, int type, int depth) {
            return switch (type) {
                case 0, 7 -> Optional.of(Integer.toString(in.int8(key) & 0xff));
                case 1 -> Optional.of(Byte.toString(in.int8(key)));
                case 2, 3 -> Optional.of(int16(key, type));
                case 4 -> Optional.of(Integer.toUnsignedString(in.int32(key)));
                case 5 -> Optional.of(Integer.toString(in.int32(key)));
                case 6 -> Optional.of(Float.toString(Float.intBitsToFloat(in.int32(key))));
                case 8 -> in.textUpTo("field " + key, LONGEST_KEPT);
                case 9 -> list(key, depth);
                case 10 -> Optional.of(Long.toUnsignedString(in.int64(key)));
                case 11 -> Optional.of(Long.toString(in.int64(key)));
                case 12 -> Optional.of(Double.toString(Double.longBitsToDouble(in.int64(key))));
                default -> throw in.bad("field " + key + " has type " + Integer.toUnsignedString(type) + ", expected 0 to 12");
            };
        }

        private String int16(String key, int type) {
            int bits = in.int8(key) & 0xff | in.int8(key) << 8;
            return Integer.toString(type == 2 ? bits & 0xffff : (short) bits);
        }

        private Optional<String> list(String key, int depth) {
            if (depth == DEEPEST) {
                throw in.bad("field " + key + " is a list inside " + DEEPEST + " lists");
            }
            int type = in.int32("the type of list " + key);
            long width = width(type);
            long count = in.count("the length of list " + key, Math.max(1, width));
            if (width > 0) {
                in.skip(count * width, "list " + key);
                return Optional.empty();
            }
            for (long i = 0; i < count; i++) {
                value(key, type, depth + 1);
            }
            return Optional.empty();
        }

        /** Bytes of a value of this type, 0 where each says its own. */
        private static long width(int type) {
            return switch (type) {
                case 0, 1, 7 -> 1;
                case 2, 3 -> 2;
                case 4, 5, 6 -> 4;
                case 10, 11, 12 -> 8;
                default -> 0;
            };
        }

        private long[] originalShape(String key, int type) {
            int element = type == 9 ? in.int32("the type of list " + key) : -1;
            if (element != 4 && element != 5) {
                throw in.bad("field " + key + " is not a list of 32-bit integers");
            }
            long count = in.count("the length of list " + key, Integer.BYTES);
            if (count == 0 || count > 2 * MOST_AXES) {
                throw in.bad("field " + key + " has " + count + " sizes, expected 1 to " + 2 * MOST_AXES);
            }
            long[] sizes = new long[(int) count];
            for (int i = 0; i < sizes.length; i++) {
                sizes[i] = in.int32(key);
                if (sizes[i] <= 0) {
                    throw in.bad("field " + key + " holds " + sizes[i] + ", expected sizes above 0");
                }
            }
            return sizes;
        }

        private void tensor() {
            String name = in.text("the name of a tensor", LONGEST_NAME);
            if (name.isEmpty()) {
                throw in.bad("tensor " + listed.size() + " has an empty name");
            }
            int axes = in.int32("the number of axes of tensor " + name);
            if (axes < 0 || axes > MOST_AXES) {
                throw in.bad("tensor " + name + " has " + Integer.toUnsignedString(axes) + " axes, expected at most " + MOST_AXES);
            }
            long[] sizes = new long[axes];
            for (int i = axes - 1; i >= 0; i--) {
                sizes[i] = in.int64("the sizes of tensor " + name);
            }
            int id = in.int32("the type of tensor " + name);
            GgufType type = GgufType.of(id).orElseThrow(() -> in.bad("tensor " + name + " has type " + Integer.toUnsignedString(id)
                    + ", which is not known; understood are " + GgufType.readable()));
            long offset = in.int64("the offset of tensor " + name);
            if (listed.put(name, new Listed(name, type, sizes, offset)) != null) {
                throw in.bad("tensor " + name + " appears twice");
            }
        }

        private SequencedMap<String, Entry> laidOut() {
            long alignment = alignment();
            long start = rounded(in.position(), alignment);
            List<Listed> order = new ArrayList<>(listed.values());
            order.sort(Comparator.comparingLong(Listed::offset).thenComparing(Listed::name));
            SequencedMap<String, Entry> entries = new LinkedHashMap<>();
            long at = start;
            for (Listed t : order) {
                Entry entry = entry(t, start);
                if (entry.begin() != at) {
                    throw in.bad("tensor " + t.name() + " begins at byte " + t.offset() + " of the data, expected " + (at - start) + " ("
                            + (entry.begin() < at ? "it overlaps the tensor before it" : "a hole before it") + ")");
                }
                entries.put(t.name(), entry);
                at = rounded(entry.end(), alignment);
            }
            long end = entries.isEmpty() ? start : entries.lastEntry().getValue().end();
            if (size > rounded(end, alignment)) {
                throw in.bad("the tensors end at byte " + end + ", but the file has " + size);
            }
            originalShapes.keySet().stream().filter(name -> !entries.containsKey(name)).findFirst().ifPresent(name -> {
                throw in.bad("field " + ORIGINAL_SHAPE + name + " is of a tensor that is not there");
            });
            return entries;
        }

        private Entry entry(Listed t, long start) {
            long count = elements(t.name(), t.sizes());
            long inner = t.sizes().length == 0 ? 1 : t.sizes()[t.sizes().length - 1];
            if (inner % t.type().blockElements() != 0) {
                throw in.bad("tensor " + t.name() + " has rows of " + inner + " values, expected whole blocks of " + t.type().blockElements() + " for " + t.type());
            }
            long bytes = count / t.type().blockElements() * t.type().blockBytes();
            if (t.offset() < 0 || t.offset() > size - start || bytes > size - start - t.offset()) {
                throw in.bad("tensor " + t.name() + " ends at byte " + Long.toUnsignedString(t.offset() + bytes) + " of the data, but the file holds "
                        + Math.max(0, size - start) + " (a download that did not finish?)");
            }
            long[] sizes = originalShapes.getOrDefault(t.name(), t.sizes());
            if (elements(t.name(), sizes) != count) {
                throw in.bad("tensor " + t.name() + " holds " + count + " values, but its original shape is " + Arrays.toString(sizes));
            }
            return new Entry(t.name(), t.type(), Shape.of(sizes), start + t.offset(), start + t.offset() + bytes);
        }

        private long elements(String name, long[] sizes) {
            long count = 1;
            for (long s : sizes) {
                if (s <= 0 || count > SafetensorsHeader.MOST_ELEMENTS / s) {
                    throw in.bad("tensor " + name + " has sizes " + Arrays.toString(sizes) + ", expected sizes above 0 and at most "
                            + SafetensorsHeader.MOST_ELEMENTS + " elements");
                }
                count *= s;
            }
            return count;
        }

        private long alignment() {
            String stated = metadata.getOrDefault(ALIGNMENT, Integer.toString(DEFAULT_ALIGNMENT));
            try {
                long alignment = Long.parseLong(stated);
                if (alignment >= 8 && alignment <= WIDEST_ALIGNMENT && Long.bitCount(alignment) == 1) {
                    return alignment;
                }
            } catch (NumberFormatException e) {
                // Refused below, as any other value that is no alignment.
            }
            throw in.bad(ALIGNMENT + " is " + stated + ", expected a power of 2 from 8 to " + WIDEST_ALIGNMENT);
        }

        private static long rounded(long at, long alignment) {
            return (at + alignment - 1) / alignment * alignment;
        }
    }
}

package io.kinema.cuda.driver;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * What a description for the tensor copy engine says, as the stand-in driver writes it.
 *
 * @param type    the driver's number: 6 FP16, 7 FP32, 9 BF16
 * @param sizes   of each axis, innermost first
 * @param strides in bytes, of each axis but the innermost
 * @param box     elements of each axis that are copied at once
 */
public record StandInTensorMap(long address, int type, List<Long> sizes, List<Long> strides, List<Long> box) {
    private static final int ERROR_INVALID_VALUE = 1;
    private static final int FLOAT32 = 7;
    private static final int MOST_AXES = 5;
    private static final long MOST_SIZE = 1L << 32;
    private static final long END_OF_STRIDES = 1L << 40;
    private static final long MOST_BOX = 256;
    private static final long SWIZZLED_BYTES = 128;

    /** Writes what the driver is told, or refuses what the driver does: the conditions are those of cuTensorMapEncodeTiled for a swizzle of 128 bytes. */
    static int encode(MemorySegment map, StandInTensorMap told) {
        int bytes = told.type == FLOAT32 ? 4 : 2;
        boolean fine = map.address() % TensorMap.ALIGNMENT == 0 && told.address % 16 == 0 && told.sizes.stream().allMatch(s -> s > 0 && s <= MOST_SIZE)
                && told.strides.stream().allMatch(s -> s > 0 && s % 16 == 0 && s < END_OF_STRIDES) && told.box.stream().allMatch(b -> b > 0 && b <= MOST_BOX)
                && told.box.getFirst() * bytes <= SWIZZLED_BYTES;
        if (!fine) {
            return ERROR_INVALID_VALUE;
        }
        long[] words = LongStream.concat(LongStream.of(told.address, told.type, told.sizes.size()),
                LongStream.concat(stream(told.sizes), LongStream.concat(stream(told.strides), stream(told.box)))).toArray();
        MemorySegment.copy(words, 0, map.reinterpret(TensorMap.BYTES), ValueLayout.JAVA_LONG, 0, words.length);
        return 0;
    }

    private static LongStream stream(List<Long> values) {
        return values.stream().mapToLong(v -> v);
    }

    /** What {@link #encode} wrote. */
    static StandInTensorMap decode(MemorySegment map) {
        int axes = (int) word(map, 2);
        return new StandInTensorMap(word(map, 0), (int) word(map, 1), words(map, 3, axes), words(map, 3 + axes, axes - 1), words(map, 2 + 2 * axes, axes));
    }

    private static long word(MemorySegment map, int i) {
        return map.getAtIndex(ValueLayout.JAVA_LONG, i);
    }

    private static List<Long> words(MemorySegment map, int from, int count) {
        return IntStream.range(from, from + count).mapToObj(i -> word(map, i)).toList();
    }

    /** From the arrays that the driver is given. */
    static StandInTensorMap of(int type, int axes, long address, MemorySegment sizes, MemorySegment strides, MemorySegment box) {
        if (axes < 1 || axes > MOST_AXES) {
            throw new IllegalArgumentException("tensor map: got " + axes + " axes, expected 1 to " + MOST_AXES);
        }
        MemorySegment boxSizes = box.reinterpret((long) axes * Integer.BYTES);
        return new StandInTensorMap(address, type, words(sizes.reinterpret((long) axes * Long.BYTES), 0, axes),
                words(strides.reinterpret((axes - 1L) * Long.BYTES), 0, axes - 1),
                IntStream.range(0, axes).mapToObj(i -> Integer.toUnsignedLong(boxSizes.getAtIndex(ValueLayout.JAVA_INT, i))).toList());
    }
}

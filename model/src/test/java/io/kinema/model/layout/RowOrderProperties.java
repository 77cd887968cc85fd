package io.kinema.model.layout;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** Rows are numbered by where they are stored; what is gathered must be the numbers that the rule of the layout gives. */
class RowOrderProperties {
    @Property
    void interleavedHeadsComeApart(@ForAll @IntRange(min = 1, max = 9) int heads, @ForAll @IntRange(min = 1, max = 7) int headDim,
                                   @ForAll @IntRange(min = 0, max = 2) int part, @ForAll @IntRange(min = 1, max = 5) int rowBytes) {
        RowOrder order = new RowOrder.Interleaved(part, heads);
        int rows = heads * headDim;
        assertThat(order.storedRows(rows)).isEqualTo(3L * rows);
        byte[] out = gathered(order, 3 * rows, rows, rowBytes);
        for (int row = 0; row < rows; row++) {
            int head = row / headDim;
            int stored = head * 3 * headDim + part * headDim + row % headDim;
            assertThat(out[row * rowBytes + rowBytes - 1]).as("row %d", row).isEqualTo((byte) stored);
        }
    }

    @Property
    void halvesSwapAndSwapBack(@ForAll @IntRange(min = 1, max = 40) int half, @ForAll @IntRange(min = 1, max = 5) int rowBytes) {
        RowOrder order = new RowOrder.SwappedHalves();
        byte[] out = gathered(order, 2 * half, 2 * half, rowBytes);
        for (int row = 0; row < 2 * half; row++) {
            assertThat(out[row * rowBytes]).isEqualTo((byte) ((row + half) % (2 * half)));
        }
        byte[] back = new byte[out.length];
        order.gather(MemorySegment.ofArray(out), MemorySegment.ofArray(back));
        assertThat(back).isEqualTo(numbered(2 * half, rowBytes));
    }

    private static byte[] gathered(RowOrder order, int storedRows, int rows, int rowBytes) {
        byte[] out = new byte[rows * rowBytes];
        order.gather(MemorySegment.ofArray(numbered(storedRows, rowBytes)), MemorySegment.ofArray(out));
        return out;
    }

    private static byte[] numbered(int rows, int rowBytes) {
        byte[] bytes = new byte[rows * rowBytes];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (i / rowBytes);
        }
        return bytes;
    }
}

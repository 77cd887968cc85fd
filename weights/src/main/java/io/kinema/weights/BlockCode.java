package io.kinema.weights;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Codes that hold a block of consecutive values in a few bytes with scales of the block's own, as GGUF files use them. Every
 * product and difference below is one FP32 operation, as in the format's reference implementation.
 */
enum BlockCode {
    /** 32 values: an FP16 scale d, then 32 signed bytes q; the value is {@code d * q}. */
    Q8_0(32, 34) {
        @Override
        void decode(MemorySegment block, float[] out, int at) {
            float d = half(block, 0);
            for (int i = 0; i < 32; i++) {
                out[at + i] = d * block.get(I8, 2 + i);
            }
        }

        @Override
        float bound(MemorySegment block) {
            return Math.abs(half(block, 0)) * 128;
        }
    },

    /**
     * 256 values in 8 runs of 32: FP16 d and dmin, 12 bytes with eight 6-bit scales and eight 6-bit minima, then 128 bytes of
     * 4-bit q. The value is {@code (d * scale) * q - (dmin * minimum)}. Runs 2j and 2j+1 share 32 bytes: low nibbles, then high.
     */
    Q4_K(256, 144) {
        private static final int RUN = 32;
        private static final int PACKED = 4;
        private static final int NIBBLES = PACKED + 12;

        @Override
        void decode(MemorySegment block, float[] out, int at) {
            float d = half(block, 0);
            float dmin = half(block, 2);
            for (int run = 0; run < 8; run++) {
                float scale = d * scale(block, run);
                float minimum = dmin * minimum(block, run);
                int shift = (run & 1) * 4;
                long nibbles = NIBBLES + (run >> 1) * (long) RUN;
                for (int i = 0; i < RUN; i++) {
                    out[at + run * RUN + i] = scale * (block.get(I8, nibbles + i) >>> shift & 15) - minimum;
                }
            }
        }

        /** The first four lie in the low 6 bits of bytes 0 to 3; the others in the low nibbles of bytes 8 to 11 and the high 2 bits of bytes 0 to 3. */
        private static int scale(MemorySegment block, int run) {
            return run < 4 ? block.get(I8, PACKED + run) & 63
                    : block.get(I8, PACKED + 4 + run) & 15 | (block.get(I8, PACKED + run - 4) & 0xc0) >>> 2;
        }

        /** As the scales, but from bytes 4 to 7 and from the high nibbles. */
        private static int minimum(MemorySegment block, int run) {
            return run < 4 ? block.get(I8, PACKED + 4 + run) & 63
                    : (block.get(I8, PACKED + 4 + run) & 0xf0) >>> 4 | (block.get(I8, PACKED + run) & 0xc0) >>> 2;
        }

        @Override
        float bound(MemorySegment block) {
            return Math.abs(half(block, 0)) * 63 * 15 + Math.abs(half(block, 2)) * 63;
        }
    };

    private static final ValueLayout.OfByte I8 = ValueLayout.JAVA_BYTE;
    private static final ValueLayout.OfShort I16 = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final int elements;
    private final int bytes;

    BlockCode(int elements, int bytes) {
        this.elements = elements;
        this.bytes = bytes;
    }

    /** Values of a block. */
    int elements() {
        return elements;
    }

    /** Bytes of a block. */
    int bytes() {
        return bytes;
    }

    /** Decodes one block's bytes to {@code out[at ...]}. */
    abstract void decode(MemorySegment block, float[] out, int at);

    /** No value of the block is larger; infinite or not a number exactly when one of its scales is. */
    abstract float bound(MemorySegment block);

    private static float half(MemorySegment block, long at) {
        return Float.float16ToFloat(block.get(I16, at));
    }
}

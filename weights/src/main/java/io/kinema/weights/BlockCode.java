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
        private static final int NIBBLES = 16;

        @Override
        void decode(MemorySegment block, float[] out, int at) {
            float d = half(block, 0);
            float dmin = half(block, 2);
            for (int run = 0; run < 8; run++) {
                float scale = d * KScales.scale(block, run);
                float minimum = dmin * KScales.minimum(block, run);
                int shift = (run & 1) * 4;
                long nibbles = NIBBLES + (run >> 1) * (long) RUN;
                for (int i = 0; i < RUN; i++) {
                    out[at + run * RUN + i] = scale * (block.get(I8, nibbles + i) >>> shift & 15) - minimum;
                }
            }
        }

        @Override
        float bound(MemorySegment block) {
            return Math.abs(half(block, 0)) * 63 * 15 + Math.abs(half(block, 2)) * 63;
        }
    },

    /** As Q4_K, with 32 bytes of fifth bits before the nibbles: bit r of byte i belongs to value i of run r. */
    Q5_K(256, 176) {
        private static final int RUN = 32;
        private static final int FIFTH_BITS = 16;
        private static final int NIBBLES = FIFTH_BITS + RUN;

        @Override
        void decode(MemorySegment block, float[] out, int at) {
            float d = half(block, 0);
            float dmin = half(block, 2);
            for (int run = 0; run < 8; run++) {
                float scale = d * KScales.scale(block, run);
                float minimum = dmin * KScales.minimum(block, run);
                int shift = (run & 1) * 4;
                long nibbles = NIBBLES + (run >> 1) * (long) RUN;
                for (int i = 0; i < RUN; i++) {
                    int q = block.get(I8, nibbles + i) >>> shift & 15 | (block.get(I8, FIFTH_BITS + i) >>> run & 1) << 4;
                    out[at + run * RUN + i] = scale * q - minimum;
                }
            }
        }

        @Override
        float bound(MemorySegment block) {
            return Math.abs(half(block, 0)) * 63 * 31 + Math.abs(half(block, 2)) * 63;
        }
    },

    /**
     * 256 values in 16 runs of 16: 128 bytes of low nibbles, 64 bytes of upper pairs of bits, 16 signed scales, then FP16 d. The value is
     * {@code (d * scale) * (q - 32)}. Each half of 128 values has 64 bytes of nibbles and 32 of pairs; of a half, value 32k + i has the
     * pair k of byte i, and the low (k < 2) or high nibble of byte i, or of byte 32 + i when k is odd.
     */
    Q6_K(256, 210) {
        private static final int PAIRS = 128;
        private static final int SCALES = PAIRS + 64;
        private static final int D = SCALES + 16;

        @Override
        void decode(MemorySegment block, float[] out, int at) {
            float d = half(block, D);
            for (int i = 0; i < 256; i++) {
                int part = i / 128;
                int k = i / 32 & 3;
                int within = i & 31;
                int nibble = block.get(I8, part * 64 + (k & 1) * 32 + within) >>> (k >> 1) * 4 & 15;
                int pair = block.get(I8, PAIRS + part * 32 + within) >>> 2 * k & 3;
                out[at + i] = d * block.get(I8, SCALES + i / 16) * ((nibble | pair << 4) - 32);
            }
        }

        @Override
        float bound(MemorySegment block) {
            return Math.abs(half(block, D)) * 128 * 32;
        }
    },

    /** 32 values: an FP16 scale d, then 16 bytes of two nibbles q, the low ones first; the value is {@code d * (q - 8)}. */
    Q4_0(32, 18) {
        @Override
        void decode(MemorySegment block, float[] out, int at) {
            float d = half(block, 0);
            for (int i = 0; i < 32; i++) {
                out[at + i] = d * ((block.get(I8, 2 + (i & 15)) >>> (i >> 4) * 4 & 15) - 8);
            }
        }

        @Override
        float bound(MemorySegment block) {
            return Math.abs(half(block, 0)) * 8;
        }
    },

    /** As Q4_0, with 32 fifth bits between scale and nibbles; the value is {@code d * (q - 16)}. */
    Q5_0(32, 22) {
        @Override
        void decode(MemorySegment block, float[] out, int at) {
            float d = half(block, 0);
            for (int i = 0; i < 32; i++) {
                int fifth = block.get(I8, 2 + i / 8) >>> (i & 7) & 1;
                out[at + i] = d * ((block.get(I8, 6 + (i & 15)) >>> (i >> 4) * 4 & 15 | fifth << 4) - 16);
            }
        }

        @Override
        float bound(MemorySegment block) {
            return Math.abs(half(block, 0)) * 16;
        }
    };

    /** Eight 6-bit scales and eight 6-bit minima in 12 bytes, from the block's fifth byte on. */
    private static final class KScales {
        private static final int PACKED = 4;

        /** The first four lie in the low 6 bits of bytes 0 to 3; the others in the low nibbles of bytes 8 to 11 and the high 2 bits of bytes 0 to 3. */
        static int scale(MemorySegment block, int run) {
            return run < 4 ? block.get(I8, PACKED + run) & 63
                    : block.get(I8, PACKED + 4 + run) & 15 | (block.get(I8, PACKED + run - 4) & 0xc0) >>> 2;
        }

        /** As the scales, but from bytes 4 to 7 and from the high nibbles. */
        static int minimum(MemorySegment block, int run) {
            return run < 4 ? block.get(I8, PACKED + 4 + run) & 63
                    : (block.get(I8, PACKED + 4 + run) & 0xf0) >>> 4 | (block.get(I8, PACKED + run) & 0xc0) >>> 2;
        }
    }

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

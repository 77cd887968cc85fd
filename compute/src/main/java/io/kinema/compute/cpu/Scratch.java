package io.kinema.compute.cpu;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Owns one worker's scratch memory until it is closed: numbered heap arrays for vector loops and numbered off-heap blocks for
 * matrix products. Both only grow, so a warm worker allocates nothing. Used by its worker alone.
 */
final class Scratch implements AutoCloseable {
    private static final int SLOTS = 6;

    private final float[][] floats = new float[SLOTS][0];
    private short[] shorts = new short[0];
    private byte[] bytes = new byte[0];
    private final MemorySegment[] blocks = new MemorySegment[SLOTS];
    private final Arena[] arenas = new Arena[SLOTS];

    /** Heap array {@code slot} with room for {@code size} floats and one vector more; contents undefined. */
    float[] floats(int slot, int size) {
        int need = Lanes.roundUp(size) + Lanes.COUNT;
        if (floats[slot].length < need) {
            floats[slot] = new float[Math.max(need, 2 * floats[slot].length)];
        }
        return floats[slot];
    }

    /** A heap array for 16-bit values; contents undefined. */
    short[] shorts(int size) {
        if (shorts.length < size) {
            shorts = new short[Math.max(size, 2 * shorts.length)];
        }
        return shorts;
    }

    /** A heap array for 8-bit values; contents undefined. */
    byte[] bytes(int size) {
        if (bytes.length < size) {
            bytes = new byte[Math.max(size, 2 * bytes.length)];
        }
        return bytes;
    }

    /** Off-heap block {@code slot} of at least {@code floats} FP32 values, 64-byte aligned; contents undefined. */
    MemorySegment block(int slot, long floats) {
        long need = Math.max(64, floats * Float.BYTES);
        MemorySegment block = blocks[slot];
        if (block == null || block.byteSize() < need) {
            // Shared, not confined: the backend is closed by another thread than the worker.
            Arena arena = Arena.ofShared();
            block = arena.allocate(need, 64);
            if (arenas[slot] != null) {
                arenas[slot].close();
            }
            arenas[slot] = arena;
            blocks[slot] = block;
        }
        return block;
    }

    /** What it holds. */
    long size() {
        long sum = bytes.length + (long) shorts.length * Short.BYTES;
        for (int i = 0; i < SLOTS; i++) {
            sum += (long) floats[i].length * Float.BYTES + (blocks[i] == null ? 0 : blocks[i].byteSize());
        }
        return sum;
    }

    @Override
    public void close() {
        for (int i = 0; i < SLOTS; i++) {
            if (arenas[i] != null) {
                arenas[i].close();
            }
        }
        Arrays.fill(arenas, null);
        Arrays.fill(blocks, null);
    }
}

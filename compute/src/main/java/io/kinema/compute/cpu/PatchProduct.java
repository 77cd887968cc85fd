package io.kinema.compute.cpu;

import io.kinema.compute.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * A convolution as a matrix product: {@code out[o, p] = bias[o] + sum_k w[o, k] patch[k, p]}, block of positions by block of
 * positions, so that a block's patches stay in the second-level cache.
 */
record PatchProduct(Tensor w, Optional<Tensor> bias, Patches patches) {
    /** 512 KiB of patches per block. */
    private static final int PATCH_FLOATS = 1 << 17;
    private static final int FEWEST_POSITIONS = 64;
    private static final int MOST_POSITIONS = 4096;
    private static final int UNIT = 16;
    /** Output channels are shared out too when there are fewer blocks than this. */
    private static final int FEW_TASKS = 8;
    private static final int FEWEST_CHANNELS = 32;

    /** Writes the inputs that positions see. */
    interface Patches {
        /** Inputs of one position: channels times kernel taps, in the weight's order. */
        int inputs();

        /** Positions in all. */
        long positions();

        /** Row k of {@code to} (rows {@code count} floats apart) becomes input k of positions [first, first + count). */
        void write(long first, int count, MemorySegment to, Scratch scratch);
    }

    /** @param out contiguous, [O, positions...] */
    void run(WorkerPool pool, Tensor out) {
        int channels = out.size(0);
        int inputs = patches.inputs();
        long positions = patches.positions();
        int each = positionsEach(positions, inputs);
        int blocks = Math.toIntExact(Math.ceilDiv(positions, each));
        int groups = Math.clamp(Math.min(Math.ceilDiv(FEW_TASKS, blocks), channels / FEWEST_CHANNELS), 1, FEW_TASKS);
        int channelsEach = Math.ceilDiv(channels, groups);
        Optional<float[]> shifts = bias.map(Tensor::toFloats);
        pool.run(blocks * groups, (i, scratch) -> {
            long first = (long) (i / groups) * each;
            int count = (int) Math.min(each, positions - first);
            int channel = i % groups * channelsEach;
            int rows = Math.min(channelsEach, channels - channel);
            if (rows <= 0) {
                return;
            }
            MemorySegment patch = scratch.block(0, (long) inputs * count);
            patches.write(first, count, patch, scratch);
            MemorySegment to = out.data().asSlice((channel * positions + first) * Float.BYTES);
            MemorySegment weights = w.data().asSlice((long) channel * inputs * Float.BYTES);
            OpenBlas.sgemm(false, rows, count, inputs, 1, weights, inputs, patch, count, 0, to, Math.toIntExact(positions));
            shifts.ifPresent(s -> addBias(to, positions, count, s, channel, rows, scratch));
        });
    }

    private static int positionsEach(long positions, int inputs) {
        int most = Math.clamp(PATCH_FLOATS / inputs, FEWEST_POSITIONS, MOST_POSITIONS);
        long parts = Math.max(1, Math.ceilDiv(positions, most));
        return Math.toIntExact(Math.ceilDiv(Math.ceilDiv(positions, parts), UNIT) * UNIT);
    }

    private static void addBias(MemorySegment to, long pitch, int count, float[] bias, int channel, int rows, Scratch scratch) {
        float[] a = scratch.floats(0, count);
        for (int r = 0; r < rows; r++) {
            long at = r * pitch * Float.BYTES;
            MemorySegment.copy(to, Rows.F32, at, a, 0, count);
            float term = bias[channel + r];
            for (int i = 0; i < count; i++) {
                a[i] += term;
            }
            MemorySegment.copy(a, 0, to, Rows.F32, at, count);
        }
    }
}

package io.kinema.compute.collective;

import java.util.List;

/**
 * Four constants, one for each rank, whose sum tells trees apart: with B = 2^24, adding 1 to B or -B is lost or not depending on what was added
 * before. Ten of the twelve arrangements of (B, -B, 1, 1) give each of the fifteen trees a signature that differs from every other one's
 * in at least three probes, so that one corrupted probe cannot turn one tree into another. The exact sum is 2 for all of them: a wider
 * accumulator than FP32 would answer 2 everywhere, which no tree does.
 */
record SumProbe(float a, float b, float c, float d) {
    private static final float BIG = 1 << 24;

    /** The ten probes of a calibration. */
    static final List<SumProbe> ALL = List.of(
            new SumProbe(BIG, 1, -BIG, 1), new SumProbe(BIG, 1, 1, -BIG), new SumProbe(-BIG, BIG, 1, 1), new SumProbe(-BIG, 1, BIG, 1),
            new SumProbe(-BIG, 1, 1, BIG), new SumProbe(1, BIG, -BIG, 1), new SumProbe(1, -BIG, BIG, 1), new SumProbe(1, -BIG, 1, BIG),
            new SumProbe(1, 1, BIG, -BIG), new SumProbe(1, 1, -BIG, BIG));

    /** The constant of a rank. */
    float of(int rank) {
        return switch (rank) {
            case 0 -> a;
            case 1 -> b;
            case 2 -> c;
            case 3 -> d;
            default -> throw new IllegalArgumentException("probe: got rank " + rank + ", expected 0 to 3");
        };
    }

    /** What a tree makes of it. */
    float expected(SumTree tree) {
        return tree.sum(a, b, c, d);
    }

    /** What each tree makes of it, by code. */
    float[] expected() {
        float[] all = new float[SumTree.ALL.size()];
        for (SumTree tree : SumTree.ALL) {
            all[tree.ordinal()] = expected(tree);
        }
        return all;
    }

    /** A bit for each tree (by code) whose sum has exactly these bits. */
    static int matching(float[] expected, int bits) {
        int mask = 0;
        for (int code = 0; code < expected.length; code++) {
            if (Float.floatToRawIntBits(expected[code]) == bits) {
                mask |= 1 << code;
            }
        }
        return mask;
    }
}

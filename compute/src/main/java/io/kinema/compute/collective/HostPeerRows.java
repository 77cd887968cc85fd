package io.kinema.compute.collective;

import io.kinema.compute.Device;
import io.kinema.compute.Tensor;
import io.kinema.weights.DType;
import io.kinema.weights.Shape;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** Owns a rank's rows in host memory until it is closed; closing twice is harmless. */
final class HostPeerRows implements PeerRows {
    private static final ValueLayout.OfFloat F32 = ValueLayout.JAVA_FLOAT_UNALIGNED;
    private static final ValueLayout.OfShort I16 = ValueLayout.JAVA_SHORT_UNALIGNED;
    private static final short ALL_TREES = (short) ((1 << SumTree.ALL.size()) - 1);
    private static final int BLOCK = 4096;

    private final long first;
    private final Arena memory = Arena.ofShared();
    private final Arena calibration = Arena.ofShared();
    private final Tensor partial;
    private final Tensor probing;
    private final Tensor sum;
    private final MemorySegment trees;
    private final MemorySegment possible;
    private final float[][] block;
    private final float[] added = new float[BLOCK];
    private final byte[] codes = new byte[BLOCK];

    private HostPeerRows(int rank, RowShares shares, int columns) {
        try {
            this.partial = floats(memory, shares.rows(), columns);
            this.sum = floats(memory, shares.count(rank), columns);
            this.trees = memory.allocate(sum.elements());
            this.probing = floats(calibration, shares.rows(), columns);
            this.possible = calibration.allocate(sum.elements() * Short.BYTES, 64);
        } catch (OutOfMemoryError e) {
            close();
            throw e;
        }
        this.first = (long) shares.from(rank) * columns;
        this.block = new float[shares.ranks()][BLOCK];
        for (long i = 0; i < sum.elements(); i++) {
            possible.set(I16, i * Short.BYTES, ALL_TREES);
        }
    }

    /** Empty when there is not that much memory: the other ranks must hear of it before anybody goes on. */
    static Optional<PeerRows> allocate(int rank, RowShares shares, int columns) {
        try {
            return Optional.of(new HostPeerRows(rank, shares, columns));
        } catch (OutOfMemoryError e) {
            return Optional.empty();
        }
    }

    private static Tensor floats(Arena owner, int rows, int columns) {
        Shape shape = Shape.of(rows, columns);
        return Tensor.of(DType.F32, shape, owner.allocate(shape.elements() * Float.BYTES, 64), Device.CPU);
    }

    @Override
    public Tensor partial() {
        return partial;
    }

    @Override
    public void load(Tensor values) {
        MemorySegment.copy(values.data(), 0, partial.data(), 0, partial.elements() * Float.BYTES);
    }

    @Override
    public Tensor probe(float value) {
        Arrays.fill(added, value);
        for (long at = 0; at < probing.elements(); at += BLOCK) {
            MemorySegment.copy(added, 0, probing.data(), F32, at * Float.BYTES, blockAt(at, probing));
        }
        return probing;
    }

    /** Elements of the block that begins at {@code at}: arrays of this size are what loops run on. */
    private static int blockAt(long at, Tensor all) {
        return (int) Math.min(BLOCK, all.elements() - at);
    }

    @Override
    public void narrow(float[] expected, Tensor result) {
        float[] results = block[0];
        short[] masks = new short[BLOCK];
        for (long at = 0; at < sum.elements(); at += BLOCK) {
            int n = blockAt(at, sum);
            MemorySegment.copy(result.data(), F32, (first + at) * Float.BYTES, results, 0, n);
            MemorySegment.copy(possible, I16, at * Short.BYTES, masks, 0, n);
            narrow(expected, results, masks, n);
            MemorySegment.copy(masks, 0, possible, I16, at * Short.BYTES, n);
        }
    }

    /** Neighbours mostly have the same result. */
    private static void narrow(float[] expected, float[] results, short[] masks, int n) {
        int last = Float.floatToRawIntBits(results[0]);
        int matching = SumProbe.matching(expected, last);
        for (int i = 0; i < n; i++) {
            int bits = Float.floatToRawIntBits(results[i]);
            if (bits != last) {
                last = bits;
                matching = SumProbe.matching(expected, bits);
            }
            masks[i] &= (short) matching;
        }
    }

    @Override
    public long code() {
        long unclear = 0;
        short[] masks = new short[BLOCK];
        for (long at = 0; at < sum.elements(); at += BLOCK) {
            int n = blockAt(at, sum);
            MemorySegment.copy(possible, I16, at * Short.BYTES, masks, 0, n);
            for (int i = 0; i < n; i++) {
                unclear += Integer.bitCount(masks[i]) == 1 ? 0 : 1;
                codes[i] = (byte) Integer.numberOfTrailingZeros(masks[i]);
            }
            MemorySegment.copy(codes, 0, trees, ValueLayout.JAVA_BYTE, at, n);
        }
        calibration.close();
        return unclear;
    }

    @Override
    public Tensor add(List<Tensor> partials) {
        for (long at = 0; at < sum.elements(); at += BLOCK) {
            int n = blockAt(at, sum);
            for (int peer = 0; peer < block.length; peer++) {
                MemorySegment.copy(partials.get(peer).data(), F32, (first + at) * Float.BYTES, block[peer], 0, n);
            }
            addBlock(at, n);
            MemorySegment.copy(added, 0, sum.data(), F32, at * Float.BYTES, n);
        }
        return sum;
    }

    /** Neighbours mostly share a tree, so each run of equal codes is one loop. */
    private void addBlock(long at, int n) {
        MemorySegment.copy(trees, ValueLayout.JAVA_BYTE, at, codes, 0, n);
        for (int from = 0; from < n; ) {
            int to = from + 1;
            while (to < n && codes[to] == codes[from]) {
                to++;
            }
            SumTree.ALL.get(codes[from]).sum(block, from, to - from, added);
            from = to;
        }
    }

    @Override
    public void close() {
        if (calibration.scope().isAlive()) {
            calibration.close();
        }
        if (memory.scope().isAlive()) {
            memory.close();
        }
    }
}

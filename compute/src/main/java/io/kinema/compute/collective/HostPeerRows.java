package io.kinema.compute.collective;

import io.kinema.compute.Device;
import io.kinema.compute.Tensor;
import io.kinema.weights.DType;
import io.kinema.weights.Shape;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
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
        for (long i = 0; i < probing.elements(); i++) {
            probing.data().set(F32, i * Float.BYTES, value);
        }
        return probing;
    }

    @Override
    public void narrow(float[] expected, Tensor result) {
        MemorySegment results = result.data().asSlice(first * Float.BYTES);
        int last = 0;
        int matching = SumProbe.matching(expected, last);
        for (long i = 0; i < sum.elements(); i++) {
            int bits = Float.floatToRawIntBits(results.get(F32, i * Float.BYTES));
            if (bits != last) {
                last = bits;
                matching = SumProbe.matching(expected, bits);
            }
            possible.set(I16, i * Short.BYTES, (short) (possible.get(I16, i * Short.BYTES) & matching));
        }
    }

    @Override
    public long code() {
        long unclear = 0;
        for (long i = 0; i < sum.elements(); i++) {
            int mask = possible.get(I16, i * Short.BYTES);
            unclear += Integer.bitCount(mask) == 1 ? 0 : 1;
            trees.set(ValueLayout.JAVA_BYTE, i, (byte) Integer.numberOfTrailingZeros(mask));
        }
        calibration.close();
        return unclear;
    }

    @Override
    public Tensor add(List<Tensor> partials) {
        for (long at = 0; at < sum.elements(); at += BLOCK) {
            int n = (int) Math.min(BLOCK, sum.elements() - at);
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
        for (int from = 0; from < n; ) {
            byte code = trees.get(ValueLayout.JAVA_BYTE, at + from);
            int to = from + 1;
            while (to < n && trees.get(ValueLayout.JAVA_BYTE, at + to) == code) {
                to++;
            }
            SumTree.ALL.get(code).sum(block, from, to - from, added);
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

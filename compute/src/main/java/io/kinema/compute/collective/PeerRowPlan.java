package io.kinema.compute.collective;

import io.kinema.compute.Device;
import io.kinema.compute.Tensor;
import io.kinema.weights.DType;
import io.kinema.weights.Shape;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/**
 * Owns one rank's buffers for exact row reductions of one shape among four ranks, until {@link #close}: a copy of its partial that the
 * others read, its rows of the sum, and for each of their elements the {@link SumTree} by which the all-reduce adds it. The trees are
 * not known but measured: ten {@link SumProbe}s go through the all-reduce itself, and what every one of them leaves possible is the answer.
 * An element for which none or several are left refuses the plan, on all ranks.
 */
final class PeerRowPlan {
    /** Four addends have fifteen trees; other numbers of ranks would need others. */
    static final int RANKS = 4;

    private static final ValueLayout.OfFloat F32 = ValueLayout.JAVA_FLOAT_UNALIGNED;
    private static final ValueLayout.OfShort I16 = ValueLayout.JAVA_SHORT_UNALIGNED;
    private static final int ALL_TREES = (1 << SumTree.ALL.size()) - 1;
    private static final int BLOCK = 4096;

    /** What became of an attempt, the same kind on every rank. */
    sealed interface Setup {
    }

    /** The plan can be used. */
    record Ready(PeerRowPlan plan) implements Setup {
    }

    /** It cannot, and nothing is held. */
    record Refused(String reason) implements Setup {
    }

    private final int rows;
    private final int columns;
    private final int rank;
    private final Thread owner = Thread.currentThread();
    private final Arena memory = Arena.ofShared();
    private final Tensor partial;
    private final Tensor sum;
    private final MemorySegment trees;
    private final float[][] block = new float[RANKS][BLOCK];
    private final float[] added = new float[BLOCK];
    private List<Tensor> peers = List.of();
    private boolean closed;

    private PeerRowPlan(int rank, int rows, int columns) {
        this.rank = rank;
        this.rows = rows;
        this.columns = columns;
        this.partial = floats(rows);
        this.sum = floats(rows / RANKS);
        this.trees = memory.allocate(sum.elements());
    }

    private Tensor floats(int of) {
        Shape shape = Shape.of(of, columns);
        return Tensor.of(DType.F32, shape, memory.allocate(shape.elements() * Float.BYTES, 64), Device.CPU);
    }

    /** Bytes that a plan holds: the partial, this rank's rows of the sum, and a code for each of their elements. */
    static long bytes(long rows, long columns) {
        return rows * columns * Float.BYTES + rows / RANKS * columns * (Float.BYTES + 1);
    }

    /** Bytes while a plan is made: one more partial to probe with, and two bytes of possible trees for each own element. */
    static long setupBytes(long rows, long columns) {
        return bytes(rows, columns) + rows * columns * Float.BYTES + rows / RANKS * columns * Short.BYTES;
    }

    /**
     * Makes a plan; collective.
     *
     * @param budgetBytes the most that {@link #setupBytes} may be, checked before anything is allocated
     */
    static Setup open(Communicator ranks, int rows, int columns, long budgetBytes) {
        if (ranks.size() != RANKS) {
            return new Refused("peer execution requires " + RANKS + " ranks, there are " + ranks.size());
        }
        boolean affordable = setupBytes(rows, columns) <= budgetBytes;
        if (!ranks.agree(affordable)) {
            return new Refused("shape exceeds residual communication budget: " + rows + "x" + columns + " takes " + setupBytes(rows, columns)
                    + " bytes on each rank, allowed are " + budgetBytes);
        }
        PeerRowPlan plan = new PeerRowPlan(ranks.rank(), rows, columns);
        try {
            plan.peers = ranks.exchange(plan.partial);
            long unclear = plan.calibrate(ranks);
            if (ranks.agree(unclear == 0)) {
                return new Ready(plan);
            }
            plan.close(ranks);
            return new Refused("the all-reduce's order of addition cannot be told for every element of " + rows + "x" + columns
                    + " (" + unclear + " of this rank's)");
        } catch (RuntimeException | Error e) {
            plan.memory.close();
            throw e;
        }
    }

    /** Bytes held. */
    long bytes() {
        return bytes(rows, columns);
    }

    /** Finds the tree of each own element. @return how many have none or several */
    private long calibrate(Communicator ranks) {
        long first = rank * sum.elements();
        try (Arena scratch = Arena.ofShared()) {
            MemorySegment possible = scratch.allocate(sum.elements() * Short.BYTES, 64);
            for (long i = 0; i < sum.elements(); i++) {
                possible.set(I16, i * Short.BYTES, (short) ALL_TREES);
            }
            Tensor probing = Tensor.of(DType.F32, partial.shape(), scratch.allocate(partial.elements() * Float.BYTES, 64), Device.CPU);
            for (SumProbe probe : SumProbe.ALL) {
                for (long i = 0; i < probing.elements(); i++) {
                    probing.data().set(F32, i * Float.BYTES, probe.of(rank));
                }
                ranks.allReduce(probing);
                narrow(possible, probe, probing.data().asSlice(first * Float.BYTES));
            }
            return code(possible);
        }
    }

    /** Leaves of each own element's trees those that explain the probe's result. */
    private void narrow(MemorySegment possible, SumProbe probe, MemorySegment results) {
        int last = 0;
        int matching = probe.matching(Float.intBitsToFloat(last));
        for (long i = 0; i < sum.elements(); i++) {
            int bits = Float.floatToRawIntBits(results.get(F32, i * Float.BYTES));
            if (bits != last) {
                last = bits;
                matching = probe.matching(Float.intBitsToFloat(bits));
            }
            possible.set(I16, i * Short.BYTES, (short) (possible.get(I16, i * Short.BYTES) & matching));
        }
    }

    private long code(MemorySegment possible) {
        long unclear = 0;
        for (long i = 0; i < sum.elements(); i++) {
            int mask = possible.get(I16, i * Short.BYTES);
            unclear += Integer.bitCount(mask) == 1 ? 0 : 1;
            trees.set(ValueLayout.JAVA_BYTE, i, (byte) Integer.numberOfTrailingZeros(mask));
        }
        return unclear;
    }

    /** This rank's rows of the sum, in memory that the next call overwrites. @param values FP32 [rows, columns] of this plan; left as they are */
    Tensor reduce(Communicator ranks, Tensor values) {
        requireMine(ranks, values);
        MemorySegment.copy(values.data(), 0, partial.data(), 0, partial.elements() * Float.BYTES);
        ranks.barrier();
        long first = rank * sum.elements();
        for (long at = 0; at < sum.elements(); at += BLOCK) {
            int n = (int) Math.min(BLOCK, sum.elements() - at);
            for (int peer = 0; peer < RANKS; peer++) {
                MemorySegment.copy(peers.get(peer).data(), F32, (first + at) * Float.BYTES, block[peer], 0, n);
            }
            add(at, n);
            MemorySegment.copy(added, 0, sum.data(), F32, at * Float.BYTES, n);
        }
        // Nobody writes its next partial while another one still reads this.
        ranks.barrier();
        return sum;
    }

    /** Neighbours mostly share a tree, so each run of equal codes is one loop. */
    private void add(long at, int n) {
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

    private void requireMine(Communicator ranks, Tensor values) {
        if (closed) {
            throw new IllegalStateException("peer row plan is closed");
        }
        if (Thread.currentThread() != owner || ranks.rank() != rank || ranks.size() != RANKS) {
            throw new IllegalStateException("peer row plan: got a call of rank " + ranks.rank() + " of " + ranks.size() + " on thread "
                    + Thread.currentThread().getName() + ", expected rank " + rank + " on its own thread " + owner.getName());
        }
        if (!values.shape().equals(partial.shape()) || values.dtype() != DType.F32) {
            throw new IllegalArgumentException("peer row plan: got " + values + ", expected " + partial);
        }
    }

    /** Gives the memory back once no rank reads it; collective, and harmless the second time. */
    void close(Communicator ranks) {
        if (!closed) {
            closed = true;
            ranks.barrier();
            memory.close();
        }
    }
}

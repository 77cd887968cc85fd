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

/**
 * Owns one rank's buffers for exact row reductions of one shape among four ranks, until {@link #close}: a copy of its partial that the
 * others read, its rows of the sum, and for each of their elements the {@link SumTree} by which the all-reduce adds it. The trees are
 * not known but measured: ten {@link SumProbe}s go through the all-reduce itself, and what every one of them leaves possible is the answer.
 * An element for which none or several are left refuses the plan, on all ranks. Buffers lie in host memory, which all ranks of a process read.
 */
final class PeerRowPlan implements AutoCloseable {
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

    private final RowShares shares;
    private final int columns;
    private final int rank;
    private final Thread owner = Thread.currentThread();
    private final Arena lent = Arena.ofShared();
    private final Arena memory = Arena.ofShared();
    private final Arena setup = Arena.ofShared();
    private final Tensor partial;
    private final Tensor sum;
    private final MemorySegment trees;
    /** While it is made: the trees that each own element may still have, and what the probes are put in. */
    private final MemorySegment possible;
    private final Tensor probing;
    private final float[][] block = new float[RANKS][BLOCK];
    private final float[] added = new float[BLOCK];
    private List<LentPartial> peers = List.of();
    private boolean closed;

    private PeerRowPlan(int rank, RowShares shares, int columns) {
        this.rank = rank;
        this.shares = shares;
        this.columns = columns;
        try {
            this.partial = floats(lent, shares.rows());
            this.sum = floats(memory, shares.count(rank));
            this.trees = memory.allocate(sum.elements());
            this.possible = setup.allocate(sum.elements() * Short.BYTES, 64);
            this.probing = floats(setup, shares.rows());
        } catch (OutOfMemoryError e) {
            abandon();
            throw e;
        }
    }

    private Tensor floats(Arena arena, int rows) {
        Shape shape = Shape.of(rows, columns);
        return Tensor.of(DType.F32, shape, arena.allocate(shape.elements() * Float.BYTES, 64), Device.CPU);
    }

    /** Bytes that a plan holds, at most: the partial, a rank's rows of the sum, and a code for each of their elements. */
    static long bytes(RowShares shares, long columns) {
        return shares.rows() * columns * Float.BYTES + shares.each() * columns * (Float.BYTES + 1);
    }

    /** Bytes while a plan is made: one more partial to probe with, and two bytes of possible trees for each own element. */
    static long setupBytes(RowShares shares, long columns) {
        return bytes(shares, columns) + shares.rows() * columns * Float.BYTES + shares.each() * columns * Short.BYTES;
    }

    /**
     * Makes a plan; collective.
     *
     * @param budgetBytes the most that {@link #setupBytes} may be, checked before anything is allocated
     */
    static Setup open(Communicator ranks, RowShares shares, int columns, long budgetBytes) {
        if (ranks.size() != RANKS) {
            return new Refused("peer execution requires " + RANKS + " ranks, there are " + ranks.size());
        }
        long need = setupBytes(shares, columns);
        if (!ranks.agree(need <= budgetBytes)) {
            return new Refused("shape exceeds residual communication budget: " + shares.rows() + "x" + columns + " takes " + need
                    + " bytes on each rank, allowed are " + budgetBytes);
        }
        Optional<PeerRowPlan> allocated = allocated(ranks.rank(), shares, columns);
        if (!ranks.agree(allocated.isPresent())) {
            allocated.ifPresent(PeerRowPlan::abandon);
            return new Refused("insufficient free memory for residual communication setup: " + shares.rows() + "x" + columns + " takes " + need
                    + " bytes on each rank");
        }
        return allocated.orElseThrow().calibrated(ranks);
    }

    private static Optional<PeerRowPlan> allocated(int rank, RowShares shares, int columns) {
        try {
            return Optional.of(new PeerRowPlan(rank, shares, columns));
        } catch (OutOfMemoryError e) {
            // The other ranks must hear of it before anybody goes on.
            return Optional.empty();
        }
    }

    private Setup calibrated(Communicator ranks) {
        try {
            peers = ranks.exchange(new LentPartial(partial, lent, RANKS));
            long unclear = calibrate(ranks);
            boolean clear = ranks.agree(unclear == 0);
            setup.close();
            if (clear) {
                return new Ready(this);
            }
            close();
            return new Refused("the all-reduce's order of addition cannot be told for every element of " + shares.rows() + "x" + columns
                    + " (" + unclear + " of this rank's)");
        } catch (RuntimeException | Error e) {
            abandon();
            throw e;
        }
    }

    /** What the other ranks read of this one. */
    Tensor partial() {
        return partial;
    }

    /** Bytes held while it was made. */
    long setupBytes() {
        return setupBytes(shares, columns);
    }

    /** Finds the tree of each own element. @return how many have none or several */
    private long calibrate(Communicator ranks) {
        for (long i = 0; i < sum.elements(); i++) {
            possible.set(I16, i * Short.BYTES, (short) ALL_TREES);
        }
        for (SumProbe probe : SumProbe.ALL) {
            for (long i = 0; i < probing.elements(); i++) {
                probing.data().set(F32, i * Float.BYTES, probe.of(rank));
            }
            ranks.allReduce(probing);
            narrow(probe, probing.data().asSlice(first() * Float.BYTES));
        }
        return code();
    }

    /** This rank's first element. */
    private long first() {
        return (long) shares.from(rank) * columns;
    }

    /** Leaves of each own element's trees those that explain the probe's result. */
    private void narrow(SumProbe probe, MemorySegment results) {
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

    private long code() {
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
        long first = first();
        for (long at = 0; at < sum.elements(); at += BLOCK) {
            int n = (int) Math.min(BLOCK, sum.elements() - at);
            for (int peer = 0; peer < RANKS; peer++) {
                MemorySegment.copy(peers.get(peer).values().data(), F32, (first + at) * Float.BYTES, block[peer], 0, n);
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
        if (!values.shape().equals(partial.shape()) || values.dtype() != DType.F32 || !values.contiguous() || !values.device().equals(partial.device())) {
            throw new IllegalArgumentException("peer row plan: got " + values + ", expected " + partial);
        }
    }

    /** Lets go of all ranks' partials; the memory goes when every rank has. Harmless the second time. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            peers.forEach(LentPartial::release);
            memory.close();
        }
    }

    /** Gives back what a plan that was not made has taken; no rank will read it. */
    private void abandon() {
        closed = true;
        for (Arena arena : List.of(lent, memory, setup)) {
            if (arena.scope().isAlive()) {
                arena.close();
            }
        }
    }
}

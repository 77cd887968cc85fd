package io.kinema.compute.collective;

import io.kinema.compute.Tensor;
import io.kinema.weights.DType;
import io.kinema.weights.Shape;
import java.util.List;
import java.util.Optional;

/**
 * Owns one rank's buffers for exact row reductions of one shape among four ranks, until {@link #close}: a copy of its partial that the
 * others read, its rows of the sum, and for each of their elements the {@link SumTree} by which the all-reduce adds it. The trees are
 * not known but measured: ten {@link SumProbe}s go through the all-reduce itself, and what every one of them leaves possible is the answer.
 * An element for which none or several are left refuses the plan, on all ranks.
 */
final class PeerRowPlan implements AutoCloseable {
    /** Four addends have fifteen trees; other numbers of ranks would need others. */
    static final int RANKS = 4;

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
    private final Shape shape;
    private final int rank;
    private final Thread owner = Thread.currentThread();
    private final PeerRows memory;
    private List<LentRows> lent = List.of();
    private List<Tensor> partials = List.of();
    private boolean closed;

    private PeerRowPlan(int rank, RowShares shares, int columns, PeerRows memory) {
        this.rank = rank;
        this.shares = shares;
        this.shape = Shape.of(shares.rows(), columns);
        this.memory = memory;
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
        Optional<String> refusal = refusal(shares, columns, budgetBytes);
        if (!ranks.agree(refusal.isEmpty())) {
            return new Refused(refusal.orElse("shape exceeds residual communication budget of another rank"));
        }
        Optional<PeerRows> memory = ranks.peerRows(shares, columns);
        if (!ranks.agree(memory.isPresent())) {
            memory.ifPresent(PeerRows::close);
            return new Refused("insufficient free memory for residual communication setup: " + needs(shares, columns));
        }
        return new PeerRowPlan(ranks.rank(), shares, columns, memory.get()).calibrated(ranks);
    }

    /** What can be told before anything is tried. */
    static Optional<String> refusal(RowShares shares, int columns, long budgetBytes) {
        if (shares.ranks() != RANKS) {
            return Optional.of("peer execution requires " + RANKS + " ranks, there are " + shares.ranks());
        }
        return setupBytes(shares, columns) <= budgetBytes ? Optional.empty()
                : Optional.of("shape exceeds residual communication budget: " + needs(shares, columns) + ", allowed are " + budgetBytes);
    }

    private static String needs(RowShares shares, int columns) {
        return shares.rows() + "x" + columns + " takes " + setupBytes(shares, columns) + " bytes on each rank";
    }

    private Setup calibrated(Communicator ranks) {
        try {
            lent = ranks.exchange(new LentRows(memory, RANKS));
            partials = lent.stream().map(peer -> peer.rows().partial()).toList();
            long unclear = calibrate(ranks);
            if (ranks.agree(unclear == 0)) {
                return new Ready(this);
            }
            close();
            return new Refused("the all-reduce's order of addition cannot be told for every element of " + shape + " (" + unclear + " of this rank's)");
        } catch (RuntimeException | Error e) {
            // No rank gets as far as a reduction, so none will read this.
            closed = true;
            memory.close();
            throw e;
        }
    }

    /** Bytes held while it was made. */
    long setupBytes() {
        return setupBytes(shares, shape.dim(1));
    }

    /** What the other ranks read of this one. */
    Tensor partial() {
        return memory.partial();
    }

    /** Finds the tree of each own element. @return how many have none or several */
    private long calibrate(Communicator ranks) {
        for (SumProbe probe : SumProbe.ALL) {
            Tensor sum = memory.probe(probe.of(rank));
            ranks.allReduce(sum);
            memory.narrow(probe.expected(), sum);
        }
        return memory.code();
    }

    /** This rank's rows of the sum, in memory that the next call overwrites. @param values FP32 [rows, columns] of this plan; left as they are */
    Tensor reduce(Communicator ranks, Tensor values) {
        requireMine(ranks, values);
        memory.load(values);
        ranks.barrier();
        Tensor sum = memory.add(partials);
        // Nobody writes its next partial while another one still reads this.
        ranks.barrier();
        return sum;
    }

    private void requireMine(Communicator ranks, Tensor values) {
        if (closed) {
            throw new IllegalStateException("peer row plan is closed");
        }
        if (Thread.currentThread() != owner || ranks.rank() != rank || ranks.size() != RANKS) {
            throw new IllegalStateException("peer row plan: got a call of rank " + ranks.rank() + " of " + ranks.size() + " on thread "
                    + Thread.currentThread().getName() + ", expected rank " + rank + " on its own thread " + owner.getName());
        }
        if (!values.shape().equals(shape) || values.dtype() != DType.F32 || !values.contiguous() || !values.device().equals(partial().device())) {
            throw new IllegalArgumentException("peer row plan: got " + values + ", expected " + partial());
        }
    }

    /** Lets go of all ranks' partials; the memory goes when every rank has. Harmless the second time. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            lent.forEach(LentRows::release);
        }
    }
}

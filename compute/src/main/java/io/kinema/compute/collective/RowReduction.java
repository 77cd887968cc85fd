package io.kinema.compute.collective;

import io.kinema.compute.Tensor;
import io.kinema.compute.event.CollectiveEvent;
import io.kinema.weights.DType;
import java.util.Arrays;
import java.util.Optional;

/**
 * Owns what one rank needs to add up all ranks' FP32 partials [rows, columns] and keep its own rows, until it is closed: the bits are always those
 * of {@link Communicator#allReduce}. In the mode {@link Mode#PEER} each rank reads the others' partials itself and adds its own rows only, in the order
 * that the all-reduce has for each element, which is a quarter of the additions and of the writes; where that cannot be had, the all-reduce is used and
 * {@link #report} says why.
 *
 * <p>All ranks make the same calls; one plan is kept while the shape stays. Its memory is read by all ranks and goes when every one of them has closed it,
 * or come to another shape, so closing waits for nobody, not even after a failure. Used by the rank's thread. Closing twice is harmless.
 */
public final class RowReduction implements AutoCloseable {
    /** Which way is asked for. */
    public enum Mode {
        /** The all-reduce, of which each rank keeps its rows. */
        NATIVE("native"),
        /** Each rank adds its own rows up from what the others lend it. */
        PEER("peer");

        private final String label;

        Mode(String label) {
            this.label = label;
        }

        /** The name on the command line. */
        public String label() {
            return label;
        }

        /** The mode with this command-line name, or empty. */
        public static Optional<Mode> labelled(String label) {
            return Arrays.stream(values()).filter(mode -> mode.label.equals(label)).findFirst();
        }
    }

    /**
     * What was done so far.
     *
     * @param peerCalls    reductions by a peer plan
     * @param nativeCalls  by the all-reduce
     * @param setupSeconds wall-clock time of making plans
     * @param bufferBytes  the most memory that a plan has held, its setup included
     * @param fallback     why the all-reduce is used although peers were asked for
     */
    public record Report(long peerCalls, long nativeCalls, double setupSeconds, long bufferBytes, Optional<String> fallback) {
        /** Nothing done. */
        public static final Report NONE = new Report(0, 0, 0, 0, Optional.empty());

        /** Calls and time since an earlier report; memory and reason as they are now. */
        public Report minus(Report earlier) {
            return new Report(peerCalls - earlier.peerCalls, nativeCalls - earlier.nativeCalls, setupSeconds - earlier.setupSeconds, bufferBytes, fallback);
        }
    }

    /** What a plan is made for, or was refused for. */
    private record Planned(RowShares shares, int columns) {
    }

    private final Mode mode;
    private final long budgetBytes;
    private Optional<PeerRowPlan> plan = Optional.empty();
    private Optional<String> fallback = Optional.empty();
    private Optional<Planned> planned = Optional.empty();
    private long peerCalls;
    private long nativeCalls;
    private double setupSeconds;
    private long bufferBytes;
    private boolean closed;

    /** @param budgetBytes the most memory that a plan may take while it is made, at least 0 */
    public RowReduction(Mode mode, long budgetBytes) {
        if (budgetBytes < 0) {
            throw new IllegalArgumentException("row reduction: got a budget of " + budgetBytes + " bytes, expected 0 or more");
        }
        this.mode = mode;
        this.budgetBytes = budgetBytes;
    }

    /** Why peers will not reduce rows of such a shape, as far as it can be told before anything is tried: the number of ranks, or the budget. */
    public static Optional<String> refusal(RowShares shares, int columns, long budgetBytes) {
        return PeerRowPlan.refusal(shares, columns, budgetBytes);
    }

    /** Bytes that peers take on a rank while they make themselves ready, the most that they ever take. */
    public static long peerBytes(RowShares shares, int columns) {
        return PeerRowPlan.setupBytes(shares, columns);
    }

    /**
     * Adds the ranks' partials and gives this rank's rows of the sum.
     *
     * @param partial FP32 [rows, columns], contiguous, at least one row and column; overwritten by the all-reduce
     * @param shares  whose rows are whose: of as many rows and ranks as there are; padding takes no part
     * @return FP32 [shares.count(rank), columns]: after the all-reduce a view of {@code partial}, else memory of the plan that the next call overwrites
     */
    public Tensor reduce(Communicator ranks, Tensor partial, RowShares shares) {
        if (closed) {
            throw new IllegalStateException("row reduction is closed");
        }
        if (partial.rank() != 2 || partial.dtype() != DType.F32 || !partial.contiguous() || partial.elements() == 0
                || partial.size(0) != shares.rows() || ranks.size() != shares.ranks()) {
            throw new IllegalArgumentException("row reduction: got " + partial + " on " + ranks.size() + " ranks, expected contiguous F32 rows for " + shares);
        }
        if (mode == Mode.PEER) {
            prepare(ranks, partial, shares);
        }
        if (plan.isEmpty()) {
            nativeCalls++;
            ranks.allReduce(partial);
            return partial.rows(shares.from(ranks.rank()), shares.to(ranks.rank()));
        }
        peerCalls++;
        return CollectiveEvent.around("reduce-scatter", "peer", ranks.rank(), ranks.size(), partial.elements() * partial.dtype().bytes(),
                () -> plan.get().reduce(ranks, partial));
    }

    /** Makes a plan for a shape that is not the last one's. */
    private void prepare(Communicator ranks, Tensor partial, RowShares shares) {
        Planned wanted = new Planned(shares, partial.size(1));
        if (planned.equals(Optional.of(wanted))) {
            return;
        }
        drop();
        long start = System.nanoTime();
        switch (PeerRowPlan.open(ranks, shares, partial.size(1), budgetBytes)) {
            case PeerRowPlan.Ready ready -> {
                plan = Optional.of(ready.plan());
                fallback = Optional.empty();
                bufferBytes = Math.max(bufferBytes, ready.plan().setupBytes());
            }
            case PeerRowPlan.Refused refused -> fallback = Optional.of(refused.reason());
        }
        planned = Optional.of(wanted);
        setupSeconds += (System.nanoTime() - start) / 1e9;
    }

    private void drop() {
        plan.ifPresent(PeerRowPlan::close);
        plan = Optional.empty();
        planned = Optional.empty();
    }

    /** What was done so far. */
    public Report report() {
        return new Report(peerCalls, nativeCalls, setupSeconds, bufferBytes, fallback);
    }

    /** Lets go of the plan; its memory goes when all ranks have. */
    @Override
    public void close() {
        closed = true;
        drop();
    }
}

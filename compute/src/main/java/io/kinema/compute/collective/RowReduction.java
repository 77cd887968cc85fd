package io.kinema.compute.collective;

import io.kinema.compute.Tensor;
import io.kinema.compute.event.CollectiveEvent;
import io.kinema.weights.DType;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Owns what one rank needs to add up all ranks' FP32 partials [rows, columns] and keep its own rows, until it is closed: the bits are always those
 * of {@link Communicator#allReduce}. In the mode {@link Mode#PEER} each rank reads the others' partials itself and adds its own rows only, in the order
 * that the all-reduce has for each element, which is a quarter of the additions and of the writes; where that cannot be had, the all-reduce is used and
 * {@link #report} says why.
 *
 * <p>All ranks make the same calls; one plan is kept while the shape stays and is closed by all ranks together when it changes.
 * Used by the rank's thread. Closing is collective when a plan is held ({@link #close(Communicator)}); closing twice is harmless.
 */
public final class RowReduction {
    /** Which way is asked for. */
    public enum Mode { NATIVE, PEER }

    /**
     * What was done so far.
     *
     * @param peerCalls    reductions by a peer plan
     * @param nativeCalls  by the all-reduce
     * @param setupSeconds wall-clock time of making plans
     * @param bufferBytes  the most memory that a plan has held
     * @param fallback     why the all-reduce is used although peers were asked for
     */
    public record Report(long peerCalls, long nativeCalls, double setupSeconds, long bufferBytes, Optional<String> fallback) {
    }

    private final Mode mode;
    private final long budgetBytes;
    private Optional<PeerRowPlan> plan = Optional.empty();
    private Optional<String> fallback = Optional.empty();
    private long[] shape = {};
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

    /**
     * Adds the ranks' partials and gives this rank's rows of the sum: rows [rank * rows / size, (rank + 1) * rows / size).
     *
     * @param partial FP32 [rows, columns], contiguous, rows a multiple of the ranks; overwritten by the all-reduce
     * @return FP32 [rows / size, columns]: after the all-reduce a view of {@code partial}, else memory of the plan that the next call overwrites
     */
    public Tensor reduce(Communicator ranks, Tensor partial) {
        if (closed) {
            throw new IllegalStateException("row reduction is closed");
        }
        if (partial.rank() != 2 || partial.dtype() != DType.F32 || !partial.contiguous() || partial.size(0) % ranks.size() != 0 || partial.elements() == 0) {
            throw new IllegalArgumentException("row reduction: got " + partial + ", expected contiguous F32 rows, a multiple of " + ranks.size());
        }
        if (mode == Mode.PEER) {
            prepare(ranks, partial);
        }
        if (plan.isPresent()) {
            peerCalls++;
            return recorded("reduce-scatter", Mode.PEER, ranks, partial, () -> plan.get().reduce(ranks, partial));
        }
        nativeCalls++;
        return recorded("all-reduce", Mode.NATIVE, ranks, partial, () -> {
            ranks.allReduce(partial);
            long rows = partial.size(0) / ranks.size();
            return partial.rows(ranks.rank() * rows, (ranks.rank() + 1) * rows);
        });
    }

    private static Tensor recorded(String operation, Mode used, Communicator ranks, Tensor partial, Supplier<Tensor> reduction) {
        return CollectiveEvent.around(operation, used.name().toLowerCase(Locale.ROOT), ranks.rank(), ranks.size(),
                partial.elements() * partial.dtype().bytes(), reduction);
    }

    /** Makes a plan for a shape that is not the last one's. */
    private void prepare(Communicator ranks, Tensor partial) {
        long[] wanted = partial.shape().toArray();
        if (Arrays.equals(shape, wanted)) {
            return;
        }
        drop(ranks);
        long start = System.nanoTime();
        PeerRowPlan.Setup setup = PeerRowPlan.open(ranks, partial.size(0), partial.size(1), budgetBytes);
        switch (setup) {
            case PeerRowPlan.Ready ready -> {
                plan = Optional.of(ready.plan());
                fallback = Optional.empty();
                bufferBytes = Math.max(bufferBytes, ready.plan().bytes());
            }
            case PeerRowPlan.Refused refused -> fallback = Optional.of(refused.reason());
        }
        shape = wanted;
        setupSeconds += (System.nanoTime() - start) / 1e9;
    }

    private void drop(Communicator ranks) {
        plan.ifPresent(held -> held.close(ranks));
        plan = Optional.empty();
        shape = new long[0];
    }

    /** What was done so far. */
    public Report report() {
        return new Report(peerCalls, nativeCalls, setupSeconds, bufferBytes, fallback);
    }

    /** Gives the plan's memory back, after all ranks have stopped reading it. */
    public void close(Communicator ranks) {
        if (!closed) {
            closed = true;
            drop(ranks);
        }
    }
}

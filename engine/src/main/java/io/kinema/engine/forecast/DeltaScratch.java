package io.kinema.engine.forecast;

import io.kinema.compute.Precision;
import io.kinema.engine.plan.AdapterReach;
import java.util.List;
import java.util.function.Predicate;

/**
 * What adapters need in a block's products, in bytes for each row: a delta in FP32 beside the product that it joins, a second one where
 * several join a product that is stored in 16 bits, and between A and B the values of its rank.
 *
 * @param adapters that are in force
 */
record DeltaScratch(List<AdapterReach> adapters, Precision precision) {
    private static final long F = Float.BYTES;

    /** Beside queries, keys and values of {@code width} channels. */
    long projections(long width) {
        return narrow(AdapterReach::projections, width);
    }

    /** Beside the attention's result. */
    long output(long hidden) {
        return wide(AdapterReach::output, hidden);
    }

    /** Beside gate and up of {@code ffn} channels. */
    long gates(long ffn) {
        return narrow(AdapterReach::gates, ffn);
    }

    /** Beside the feed-forward's inner values. */
    long down(long hidden) {
        return wide(AdapterReach::down, hidden);
    }

    /** Bytes of all their matrices, of which a rank may have the whole. */
    long matrices() {
        return adapters.stream().mapToLong(AdapterReach::values).sum() * precision.operand().bytes();
    }

    private long narrow(Predicate<AdapterReach> reached, long width) {
        long count = adapters.stream().filter(reached).count();
        return count == 0 ? 0 : width * F * (count > 1 && precision.operand().bytes() < F ? 2 : 1) + inner();
    }

    private long wide(Predicate<AdapterReach> reached, long width) {
        return adapters.stream().anyMatch(reached) ? width * F + inner() : 0;
    }

    private long inner() {
        long operand = precision.operand().bytes();
        return adapters.stream().mapToInt(AdapterReach::rank).max().orElse(0) * (operand == F ? F : F + operand);
    }
}

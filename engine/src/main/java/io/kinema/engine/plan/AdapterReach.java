package io.kinema.engine.plan;

import io.kinema.model.adapter.Adapter;
import io.kinema.model.adapter.LowRankPair;
import java.util.List;
import java.util.function.Predicate;

/**
 * Which products of the transformer's blocks an adapter adds to, for forecasts of memory.
 *
 * @param projections those that make queries, keys and values
 * @param output      the attention's output projection
 * @param gates       those that make gate and up
 * @param down        the feed-forward's second product
 * @param rank        of the widest pair, 0 without pairs
 * @param values      elements of all its matrices
 */
public record AdapterReach(boolean projections, boolean output, boolean gates, boolean down, int rank, long values) {
    private static final AdapterReach NONE = new AdapterReach(false, false, false, false, 0, 0);

    /** What is fused into weights adds to no product. */
    static AdapterReach of(Adapter adapter) {
        if (adapter.fused()) {
            return NONE;
        }
        List<LowRankPair> blocks = adapter.pairs().stream().filter(p -> p.rank() > 0 && p.target().module().startsWith("transformer_blocks.")).toList();
        Predicate<String> ending = end -> blocks.stream().anyMatch(p -> p.target().module().endsWith(end));
        return new AdapterReach(ending.test(".attn.to_q") || ending.test(".attn.to_k") || ending.test(".attn.to_v"), ending.test(".attn.to_out.0"),
                ending.test(".ff.net.0.proj"), ending.test(".ff.net.2"), blocks.stream().mapToInt(LowRankPair::rank).max().orElse(0),
                adapter.pairs().stream().mapToLong(p -> p.rank() * (p.down().shape().dim(1) + p.up().shape().dim(0))).sum());
    }
}

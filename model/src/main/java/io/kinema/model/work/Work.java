package io.kinema.model.work;

import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;

/**
 * What a network of one rank executed. Useful are matrix products, attention and adapters on valid rows; padding, rotation,
 * dequantisation, norms, rotary embeddings, softmax and conversions are not counted at all, and what was executed twice or only because
 * ranks repeat one another is {@code redundantFlops}.
 *
 * @param parts          useful work by part; parts that did nothing are left out
 * @param redundantFlops repeated work, counted in no part
 * @param executedBlocks transformer blocks that ran, refiner blocks included
 * @param sparse         of block-sparse attention
 * @param cache          of step caches
 */
public record Work(Map<WorkPart, PartWork> parts, long redundantFlops, long executedBlocks, Sparse sparse, Cache cache) {
    /** Nothing done. */
    public static final Work NONE = new Work(Map.of(), 0, 0, Sparse.NONE, Cache.NONE);

    public Work {
        parts = parts.isEmpty() ? Map.of() : Collections.unmodifiableMap(new EnumMap<>(parts));
    }

    /**
     * Block-sparse attention.
     *
     * @param blocks           blocks whose attention was sparse
     * @param pairs            pairs of query and key row that were evaluated, of all heads
     * @param compressionFlops spent on choosing them; among the useful work of their part
     * @param avoidedFlops     that dense attention would have needed beyond
     */
    public record Sparse(long blocks, long pairs, long compressionFlops, long avoidedFlops) {
        /** No sparse attention. */
        public static final Sparse NONE = new Sparse(0, 0, 0, 0);

        Sparse minus(Sparse earlier) {
            return new Sparse(blocks - earlier.blocks, pairs - earlier.pairs, compressionFlops - earlier.compressionFlops,
                    avoidedFlops - earlier.avoidedFlops);
        }
    }

    /**
     * Caches that replace blocks by what an earlier step computed.
     *
     * @param hits          evaluations, or parts of one, that a cache answered
     * @param skippedBlocks blocks that did not run because of it; they count as no work
     */
    public record Cache(long hits, long skippedBlocks) {
        /** No cache. */
        public static final Cache NONE = new Cache(0, 0);

        Cache minus(Cache earlier) {
            return new Cache(hits - earlier.hits, skippedBlocks - earlier.skippedBlocks);
        }
    }

    /** All useful work. */
    public long usefulFlops() {
        return parts.values().stream().mapToLong(PartWork::flops).sum();
    }

    /** Useful work of one part. */
    public PartWork part(WorkPart part) {
        return parts.getOrDefault(part, PartWork.NONE);
    }

    /** What was done since {@code earlier}, a count of the same counter. */
    public Work minus(Work earlier) {
        Map<WorkPart, PartWork> difference = new EnumMap<>(WorkPart.class);
        for (WorkPart part : WorkPart.values()) {
            PartWork done = part(part).minus(earlier.part(part));
            if (!done.equals(PartWork.NONE)) {
                difference.put(part, done);
            }
        }
        return new Work(difference, redundantFlops - earlier.redundantFlops, executedBlocks - earlier.executedBlocks, sparse.minus(earlier.sparse),
                cache.minus(earlier.cache));
    }

    /** This and more of the same network. */
    public Work plus(Work more) {
        Map<WorkPart, PartWork> sum = new EnumMap<>(WorkPart.class);
        sum.putAll(parts);
        more.parts.forEach((part, done) -> sum.merge(part, done, PartWork::plus));
        return new Work(sum, redundantFlops + more.redundantFlops, executedBlocks + more.executedBlocks,
                new Sparse(sparse.blocks + more.sparse.blocks, sparse.pairs + more.sparse.pairs,
                        sparse.compressionFlops + more.sparse.compressionFlops, sparse.avoidedFlops + more.sparse.avoidedFlops),
                new Cache(cache.hits + more.cache.hits, cache.skippedBlocks + more.cache.skippedBlocks));
    }
}

package io.kinema.model.work;

import java.util.EnumMap;
import java.util.Map;

/**
 * Counts the work of one network on one rank, as its layers report it. Layers call it with the shapes that they execute: a rank that holds
 * a shard of a matrix reports the shard. Used by one thread.
 */
public final class WorkCounter {
    private final Map<WorkPart, PartWork> parts = new EnumMap<>(WorkPart.class);
    private WorkPart part = WorkPart.BLOCKS;
    private long valid = Long.MAX_VALUE;
    private long redundant;
    private long blocks;
    private Work.Sparse sparse = Work.Sparse.NONE;
    private Work.Cache cache = Work.Cache.NONE;

    /** What comes now belongs to {@code next}. */
    public void enter(WorkPart next) {
        part = next;
    }

    /**
     * What comes now has at most {@code rows} rows that mean something; rows beyond are padding and count as nothing.
     * {@link Long#MAX_VALUE} when every row does.
     */
    public void validRows(long rows) {
        if (rows < 0) {
            throw new IllegalArgumentException("valid rows: got " + rows + ", expected 0 or more");
        }
        valid = rows;
    }

    /** A product of {@code rows} rows with a matrix [out, in]. */
    public void product(long rows, long out, long in) {
        add(new PartWork(2 * useful(rows) * out * in, 0, 0));
    }

    /** Dense attention of {@code rows} queries and as many keys with {@code heads} heads of {@code headDim} channels. */
    public void attention(long rows, long heads, long headDim) {
        long used = useful(rows);
        add(new PartWork(0, 4 * heads * used * used * headDim, 0));
    }

    /**
     * Block-sparse attention of one block.
     *
     * @param pairs            pairs of query and key row that are evaluated, of all heads
     * @param densePairs       those that dense attention would evaluate
     * @param headDim          channels of a head
     * @param compressionFlops spent on choosing the pairs
     */
    public void sparseAttention(long pairs, long densePairs, long headDim, long compressionFlops) {
        add(new PartWork(0, 4 * pairs * headDim + compressionFlops, 0));
        sparse = new Work.Sparse(sparse.blocks() + 1, sparse.pairs() + pairs, sparse.compressionFlops() + compressionFlops,
                sparse.avoidedFlops() + 4 * (densePairs - pairs) * headDim);
    }

    /** An adapter's two products: {@code rows} rows with [rank, in] and then with [out, rank]. */
    public void adapter(long rows, long rank, long out, long in) {
        add(new PartWork(0, 0, 2 * useful(rows) * rank * (in + out)));
    }

    /** The same as {@link #adapter} where another rank or another layer executes the first product of the same rows too. */
    public void adapterSharingDown(long rows, long rank, long out, long in) {
        add(new PartWork(0, 0, 2 * useful(rows) * rank * out));
        redundant += 2 * useful(rows) * rank * in;
    }

    /** A block ran. */
    public void block() {
        blocks++;
    }

    /** A cache stood in for {@code skipped} blocks. */
    public void cacheHit(long skipped) {
        cache = new Work.Cache(cache.hits() + 1, cache.skippedBlocks() + skipped);
    }

    /** Takes back what was counted since {@code earlier}, a count of this counter: it was recorded and did not run. */
    public void rewind(Work earlier) {
        parts.clear();
        put(earlier);
    }

    /** Counts {@code done} again: what was recorded has been run. */
    public void repeat(Work done) {
        put(total().plus(done));
    }

    private void put(Work all) {
        parts.putAll(all.parts());
        redundant = all.redundantFlops();
        blocks = all.executedBlocks();
        sparse = all.sparse();
        cache = all.cache();
    }

    /** All that was counted so far. */
    public Work total() {
        return new Work(parts, redundant, blocks, sparse, cache);
    }

    private long useful(long rows) {
        return Math.min(rows, valid);
    }

    private void add(PartWork done) {
        parts.merge(part, done, PartWork::plus);
    }
}

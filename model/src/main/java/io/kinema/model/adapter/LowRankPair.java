package io.kinema.model.adapter;

import io.kinema.weights.StoredTensor;

/**
 * What an adapter adds to one layer: {@code factor * up (down x)}, with the ranks in [from, to) only.
 *
 * @param target the layer
 * @param down   A [rank, in]
 * @param up     B [out, rank]
 * @param from   first rank whose column of B is not zero; adapters that fuse layers side by side leave the others zero
 * @param to     one past the last such rank
 * @param factor alpha / rank, rank being the rows of A in the file
 */
public record LowRankPair(AdapterTarget target, StoredTensor down, StoredTensor up, int from, int to, double factor) {
    public LowRankPair {
        if (from < 0 || to < from || to > down.shape().dim(0)) {
            throw new IllegalArgumentException(target + ": got ranks [" + from + ", " + to + "), expected a range within " + down.shape());
        }
    }

    /** Ranks that do anything. */
    public int rank() {
        return to - from;
    }
}

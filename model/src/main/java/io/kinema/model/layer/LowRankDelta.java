package io.kinema.model.layer;

import io.kinema.compute.Weight;

/**
 * What one adapter adds to a linear layer: {@code factor * up (down x)}.
 *
 * @param down       [rank, in], A
 * @param up         [out, rank], B
 * @param factor     alpha / rank times the scale the request gives the adapter; not 0
 * @param sharesDown another layer that sees the same rows has the same A, so that its product here is repeated work
 */
public record LowRankDelta(Weight down, Weight up, float factor, boolean sharesDown) {
    /** A delta whose A is its own. */
    public LowRankDelta(Weight down, Weight up, float factor) {
        this(down, up, factor, false);
    }

    public LowRankDelta {
        if (down.outFeatures() != up.inFeatures()) {
            throw new IllegalArgumentException("low-rank delta: got rank " + down.outFeatures() + " down and " + up.inFeatures() + " up, expected one rank");
        }
    }

    /** Values of the intermediate. */
    public int rank() {
        return down.outFeatures();
    }
}

package io.kinema.model.video;

import io.kinema.model.StageTap;

/**
 * How one encode or decode runs.
 *
 * @param tiling   spatial tiles
 * @param listener progress and cancellation
 * @param tap      sees intermediates of every tile
 */
public record CodingOptions(Tiling tiling, TileListener listener, StageTap tap) {
    /** The released tiling, nobody listening. */
    public static final CodingOptions RELEASED = new CodingOptions(Tiling.RELEASED, TileListener.NONE, StageTap.NONE);

    public CodingOptions withTiling(Tiling other) {
        return new CodingOptions(other, listener, tap);
    }

    public CodingOptions withListener(TileListener other) {
        return new CodingOptions(tiling, other, tap);
    }

    public CodingOptions withTap(StageTap other) {
        return new CodingOptions(tiling, listener, other);
    }
}

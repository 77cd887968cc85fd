package io.kinema.model.video;

/**
 * Size of the spatial tiles that frames are coded in and the least overlap of neighbours, all in pixels. Tiling is part
 * of the result, not only a way to save memory: neighbours are cross-faded and attention does not look past a tile.
 *
 * @param tileHeight    rows of a tile; lower frames are one tile high
 * @param tileWidth     columns of a tile
 * @param overlapHeight least rows shared by vertical neighbours
 * @param overlapWidth  least columns shared by horizontal neighbours
 */
public record Tiling(int tileHeight, int tileWidth, int overlapHeight, int overlapWidth) {
    /** The tiling that H3 was released with; what every request uses. */
    public static final Tiling RELEASED = new Tiling(256, 256, 64, 64);

    /** One tile whatever the size. */
    public static final Tiling WHOLE = new Tiling(1 << 30, 1 << 30, 1 << 20, 1 << 20);

    public Tiling {
        check("height", tileHeight, overlapHeight);
        check("width", tileWidth, overlapWidth);
    }

    private static void check(String side, int tile, int overlap) {
        if (overlap < 1 || tile <= overlap) {
            throw new IllegalArgumentException("tiling: got tile " + side + " " + tile + " and overlap " + overlap
                    + ", expected 1 <= overlap < tile; the released values are 256 and 64");
        }
    }
}

package io.kinema.model.video;

import io.kinema.compute.Backend;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;

/**
 * Joins tiles into a picture, fading neighbours into each other over their overlap: first with the tile above, then with
 * the tile on the left, both as they were before any fading. Keeps only the strips that later tiles fade with, in memory
 * of the workspace's current frame.
 */
final class TileStitcher {
    private final Backend backend;
    private final TileGrid grid;
    private final Tensor out;
    /** Bottom strips of the row above (by column) and of this row; the two change places after each row. */
    private final Tensor[][] bottoms;
    /** Right strips of the tile on the left and of this tile. */
    private final Tensor[] rights;

    /**
     * @param grid tiles in the units of {@code out}
     * @param out  FP32 [C, T, H, W], written tile by tile
     */
    TileStitcher(Backend backend, Workspace ws, TileGrid grid, Tensor out) {
        this.backend = backend;
        this.grid = grid;
        this.out = out;
        int columns = grid.columns().count();
        bottoms = new Tensor[2][columns];
        rights = new Tensor[2];
        for (int side = 0; side < 2; side++) {
            if (grid.rows().count() > 1) {
                for (int c = 0; c < columns; c++) {
                    bottoms[side][c] = ws.f32(out.size(0), out.size(1), grid.rows().widestOverlap(), grid.columns().length());
                }
            }
            if (columns > 1) {
                rights[side] = ws.f32(out.size(0), out.size(1), grid.rows().length(), grid.columns().widestOverlap());
            }
        }
    }

    /**
     * Places the next tile; tiles come in list order.
     *
     * @param values FP32 [C, T, tile height, tile width]; overwritten
     */
    void place(TileGrid.Tile tile, Tensor values) {
        int above = grid.rows().overlapBefore(tile.row());
        int below = grid.rows().overlapAfter(tile.row());
        int before = grid.columns().overlapBefore(tile.column());
        int after = grid.columns().overlapAfter(tile.column());
        Tensor[] upper = bottoms[(tile.row() + 1) % 2];
        Tensor[] own = bottoms[tile.row() % 2];
        if (below > 0) {
            backend.copy(values.slice(2, tile.height() - below, tile.height()), own[tile.column()].slice(2, 0, below));
        }
        if (after > 0) {
            backend.copy(values.slice(3, tile.width() - after, tile.width()), rights[tile.column() % 2].slice(3, 0, after));
        }
        if (above > 0) {
            Tensor top = values.slice(2, 0, above);
            backend.crossFade(upper[tile.column()].slice(2, 0, above), top, 2, top);
        }
        if (before > 0) {
            Tensor left = values.slice(3, 0, before);
            backend.crossFade(rights[(tile.column() + 1) % 2].slice(3, 0, before), left, 3, left);
        }
        int height = tile.height() - below;
        int width = tile.width() - after;
        backend.copy(values.slice(2, 0, height).slice(3, 0, width),
                out.slice(2, tile.top(), tile.top() + height).slice(3, tile.left(), tile.left() + width));
    }
}

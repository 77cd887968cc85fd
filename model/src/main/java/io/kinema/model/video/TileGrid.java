package io.kinema.model.video;

import io.kinema.compute.Tensor;
import java.util.ArrayList;
import java.util.List;

/**
 * Tiles over a picture: every row tile crossed with every column tile. Tiles are independent until they are stitched, so
 * several workers may share {@link #tiles()}; stitching wants them in list order.
 *
 * @param rows    tiles along the height
 * @param columns tiles along the width
 */
public record TileGrid(TileAxis rows, TileAxis columns) {
    /**
     * One tile of a grid.
     *
     * @param index  position in {@link TileGrid#tiles()}
     * @param row    row of the grid
     * @param column column of the grid
     * @param top    first row of the picture
     * @param left   first column of the picture
     * @param height rows
     * @param width  columns
     */
    public record Tile(int index, int row, int column, int top, int left, int height, int width) {
        /** The tile's part of a picture [channels, frames, rows, columns]; a view. */
        Tensor of(Tensor picture) {
            return picture.slice(2, top, top + height).slice(3, left, left + width);
        }

        /** The same tile in pixels when this one is in latents of {@code ratio} pixels. */
        Tile times(int ratio) {
            return new Tile(index, row, column, top * ratio, left * ratio, height * ratio, width * ratio);
        }

        /** The same tile in latents of {@code ratio} pixels when this one is in pixels. */
        Tile dividedBy(int ratio) {
            return new Tile(index, row, column, top / ratio, left / ratio, height / ratio, width / ratio);
        }
    }

    /** Lays tiles over a picture of {@code height} x {@code width} pixels; they start on multiples of {@code step}. */
    public static TileGrid cover(int height, int width, Tiling tiling, int step) {
        return new TileGrid(TileAxis.cover(height, tiling.tileHeight(), tiling.overlapHeight(), step),
                TileAxis.cover(width, tiling.tileWidth(), tiling.overlapWidth(), step));
    }

    /** Number of tiles. */
    public int count() {
        return rows.count() * columns.count();
    }

    /** All tiles, row by row. */
    public List<Tile> tiles() {
        List<Tile> tiles = new ArrayList<>();
        for (int r = 0; r < rows.count(); r++) {
            for (int c = 0; c < columns.count(); c++) {
                tiles.add(new Tile(tiles.size(), r, c, rows.starts().get(r), columns.starts().get(c), rows.length(), columns.length()));
            }
        }
        return List.copyOf(tiles);
    }

    /** The same grid in latents of {@code ratio} pixels when this one is in pixels. */
    public TileGrid dividedBy(int ratio) {
        return new TileGrid(rows.dividedBy(ratio), columns.dividedBy(ratio));
    }
}

package io.kinema.model.video;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.compute.Backend;
import io.kinema.compute.HostWorkspace;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.compute.reference.ReferenceBackend;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class TileStitcherTest {
    /** Field report 14: tiles that are not blended show a grid. */
    @Property(tries = 60)
    void tilesOfOneSmoothPictureGiveItBackAbove45dB(@ForAll @IntRange(min = 4, max = 40) int height, @ForAll @IntRange(min = 4, max = 40) int width,
                                                    @ForAll @IntRange(min = 2, max = 12) int tile, @ForAll @IntRange(min = 1, max = 11) int wish) {
        TileGrid grid = TileGrid.cover(height, width, new Tiling(tile, tile, 1 + wish % (tile - 1), 1 + wish % (tile - 1)), 1);
        float[] picture = stitch(grid, height, width, (tile1, y, x) -> smooth(y, x));
        double squared = 0;
        for (int y = 0; y < height; y++) {
            for (int x = 0; x < width; x++) {
                squared += Math.pow(picture[y * width + x] - smooth(y, x), 2);
            }
        }
        assertThat(10 * Math.log10(1 / (squared / picture.length + 1e-12))).isGreaterThan(45);
    }

    /** Tiles that disagree by a constant must meet without a step larger than the fade's. */
    @Test
    void tilesThatDisagreeFadeIntoEachOther() {
        TileGrid grid = TileGrid.cover(8, 20, new Tiling(8, 12, 4, 4), 1);
        float[] picture = stitch(grid, 8, 20, (tile, y, x) -> tile.column());
        for (int x = 0; x < 20; x++) {
            assertThat(picture[x]).isEqualTo(x < 8 ? 0f : x < 12 ? (x - 8) / 4f : 1f);
        }
    }

    /** Both neighbours are faded with as they were, not as fading left them. */
    @Test
    void cornersFadeFirstDownThenRight() {
        TileGrid grid = TileGrid.cover(6, 6, new Tiling(4, 4, 2, 2), 1);
        float[] picture = stitch(grid, 6, 6, (tile, y, x) -> 1 << tile.index());
        float down = 2 * 0.5f + 8 * 0.5f;
        assertThat(picture[3 * 6 + 3]).isEqualTo(4 * 0.5f + down * 0.5f);
    }

    private interface Source {
        double value(TileGrid.Tile tile, int y, int x);
    }

    private static float smooth(int y, int x) {
        return (float) (0.5 + 0.3 * Math.sin(y / 9.0) + 0.2 * Math.cos(x / 7.0));
    }

    private static float[] stitch(TileGrid grid, int height, int width, Source source) {
        try (Backend backend = new ReferenceBackend(); Workspace ws = HostWorkspace.poisoned("test")) {
            Tensor out = ws.f32(1, 1, height, width);
            TileStitcher stitcher = new TileStitcher(backend, ws, grid, out);
            for (TileGrid.Tile tile : grid.tiles()) {
                float[] values = new float[tile.height() * tile.width()];
                for (int i = 0; i < values.length; i++) {
                    values[i] = (float) source.value(tile, tile.top() + i / tile.width(), tile.left() + i % tile.width());
                }
                stitcher.place(tile, Tensor.ofFloats(values, 1, 1, tile.height(), tile.width()));
            }
            return out.toFloats();
        }
    }
}

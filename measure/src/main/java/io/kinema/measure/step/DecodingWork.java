package io.kinema.measure.step;

import io.kinema.model.video.TileGrid;
import io.kinema.model.video.Tiling;
import io.kinema.model.video.VideoVaeConfig;

/**
 * What decoding a clip takes at least, counted from the decoder's config: every tile of every chunk once, as the released tiling
 * has them.
 *
 * @param tiles        tiles of all chunks together
 * @param rowsOfTile   rows of one tile: its latents, the register tokens and the zero token
 * @param productFlops multiplications and additions of the matrix products
 * @param scoreFlops   those of attention, 4 M N D for each head
 * @param weightValues values of the decoder's matrices
 */
public record DecodingWork(int tiles, int rowsOfTile, double productFlops, double scoreFlops, long weightValues) {
    /** @param latentFrames of the clip, whose frames have {@code height} x {@code width} pixels */
    public static DecodingWork of(VideoVaeConfig config, int latentFrames, int height, int width) {
        TileGrid grid = TileGrid.cover(height, width, Tiling.RELEASED, config.spatialRatio());
        VideoVaeConfig.Vit vit = config.decoder();
        int ratio = config.spatialRatio();
        long patches = (long) config.timing().tokensPerClip() * (grid.rows().length() / ratio) * (grid.columns().length() / ratio);
        long rows = patches + vit.registerTokens() + 1;
        long tiles = (long) config.timing().chunks(latentFrames) * grid.count();
        long dim = vit.dim();
        long block = dim * dim * (4 + 3L * vit.ffnMult());
        long pixels = (long) config.outChannels() * config.temporalRatio() * ratio * ratio;
        long ends = (long) config.latentChannels() * (config.latentChannels() + dim) + dim * pixels;
        return new DecodingWork(Math.toIntExact(tiles), Math.toIntExact(rows), 2.0 * tiles * (rows * vit.layers() * block + patches * ends),
                4.0 * tiles * vit.layers() * rows * rows * dim, vit.layers() * block + ends);
    }

    /** All of it. */
    public double flops() {
        return productFlops + scoreFlops;
    }
}

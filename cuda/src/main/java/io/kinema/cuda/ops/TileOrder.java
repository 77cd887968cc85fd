package io.kinema.cuda.ops;

import io.kinema.cuda.driver.GpuFacts;
import io.kinema.cuda.ops.ProductForm.Step;

/**
 * In which order a product's tiles are computed; it changes no bit, but how much is read from device memory.
 *
 * @param clusters how many are launched; each computes tile after tile
 * @param together rows of tiles that are computed with all columns before the next ones, 1 or more
 */
record TileOrder(int clusters, int together) {
    private static final int OPERAND_BYTES = 2;
    /** Of the cache, what the rows of x may take that are computed together; through the rest weights and results stream. 17 MB were good on an H200. */
    private static final double SHARE_OF_CACHE = 0.35;

    /** Of out [m, n] = x [m, k] w^T on this GPU. */
    static TileOrder of(ProductForm form, Step step, GpuFacts gpu, int m, int n, int k) {
        int down = Math.ceilDiv(m, form.clusterRows());
        int across = Math.ceilDiv(n, step.tileWidth());
        int clusters = (int) Math.min((long) down * across, gpu.processors() / form.blocks());
        long bytes = (long) form.clusterRows() * k * OPERAND_BYTES;
        return new TileOrder(clusters, together(down, across, clusters, (long) (SHARE_OF_CACHE * gpu.cacheBytes() / bytes)));
    }

    /**
     * All of the weight is read from memory once for the tiles that are computed at one time or that share rows in the cache, x once as long as its
     * rows stay in the cache. Where the tiles of one time are several whole rows of tiles, neither gains from more: half of them keeps the
     * tiles that read the same rows close in time. Else as many rows of tiles as fit, in groups of one size.
     */
    private static int together(int down, int across, int clusters, long fitting) {
        int whole = clusters / across;
        if (whole > 1) {
            return Math.max(1, whole / 2);
        }
        int most = (int) Math.clamp(fitting, 1, down);
        return Math.ceilDiv(down, Math.ceilDiv(down, most));
    }
}

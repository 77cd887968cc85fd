package io.kinema.model.video;

/**
 * Hears about every tile before it is coded. Whatever it throws stops the work at once and reaches the caller, so throwing
 * {@link java.util.concurrent.CancellationException} is how to cancel.
 */
@FunctionalInterface
public interface TileListener {
    /** Hears nothing. */
    TileListener NONE = progress -> {
    };

    void tile(Progress progress);

    /**
     * What is about to be coded; all counted from 1.
     *
     * @param chunk  temporal chunk
     * @param chunks number of chunks
     * @param tile   tile of the chunk
     * @param tiles  tiles of each chunk
     */
    record Progress(int chunk, int chunks, int tile, int tiles) {
        /** Share of the work that was done before this tile, in [0, 1). */
        public double fraction() {
            return ((chunk - 1.0) * tiles + tile - 1) / ((double) chunks * tiles);
        }
    }
}

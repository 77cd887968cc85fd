package io.kinema.engine.preprocess;

import io.kinema.engine.prompt.VisionGrid;

/**
 * A picture or video cut into the vision encoder's patches: bytes in the order patch, channel, time, y, x.
 *
 * <p>Patches come time by time, and within one time in blocks of {@code merge x merge}: block row, block column, row in the
 * block, column in the block. A picture stores one time of the temporal patch; {@link #values} repeats it.
 */
public final class VisionPixels {

    private final VisionGrid grid;
    private final VisionProcessor.Geometry geometry;
    private final VisionProcessor.Normalisation normalisation;
    private final int storedTimes;
    private final byte[] bytes;

    VisionPixels(VisionGrid grid, VisionProcessor.Geometry geometry, VisionProcessor.Normalisation normalisation, int storedTimes,
            byte[] bytes) {
        this.grid = grid;
        this.geometry = geometry;
        this.normalisation = normalisation;
        this.storedTimes = storedTimes;
        this.bytes = bytes;
    }

    /** Patches by time, row and column. */
    public VisionGrid grid() {
        return grid;
    }

    /** Number of patches. */
    public int rows() {
        return grid.frames() * grid.height() * grid.width();
    }

    /** Values of one patch in {@link #values}: channels * temporal patch * patch * patch. */
    public int columns() {
        return VisionProcessor.CHANNELS * geometry.temporalPatch() * geometry.patch() * geometry.patch();
    }

    /** Times stored of each temporal patch: 1 for a picture, all of them for a video. */
    public int storedTimes() {
        return storedTimes;
    }

    /** The bytes themselves, not a copy: (rows, channel, {@link #storedTimes}, y, x). */
    public byte[] bytes() {
        return bytes;
    }

    /** Normalised float32 values, row-major (rows, columns): {@code (byte - 255 mean) / (255 std)}. */
    public float[] values() {
        float[] out = new float[Math.multiplyExact(rows(), columns())];
        int plane = geometry.patch() * geometry.patch();
        int repeats = geometry.temporalPatch() / storedTimes;
        int at = 0;
        for (int from = 0; from < bytes.length; from += storedTimes * plane) {
            int channel = from / (storedTimes * plane) % VisionProcessor.CHANNELS;
            for (int repeat = 0; repeat < repeats; repeat++) {
                for (int i = 0; i < storedTimes * plane; i++) {
                    out[at++] = normalisation.apply(bytes[from + i] & 0xff, channel);
                }
            }
        }
        return out;
    }
}

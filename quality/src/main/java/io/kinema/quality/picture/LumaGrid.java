package io.kinema.quality.picture;

import io.kinema.media.image.RgbImage;

/**
 * A frame reduced to the mean luma (BT.601 weights on the RGB bytes, 0..255) of a grid of equal cells: what the detectors that look
 * along time remember of a frame.
 */
public final class LumaGrid {
    private final int columns;
    private final int rows;
    private final float[] cells;

    private LumaGrid(int columns, int rows, float[] cells) {
        this.columns = columns;
        this.rows = rows;
        this.cells = cells;
    }

    /** @param columns cells across @param rows cells down; fewer when the frame has fewer pixels */
    public static LumaGrid of(RgbImage frame, int columns, int rows) {
        int across = Math.clamp(columns, 1, frame.width());
        int down = Math.clamp(rows, 1, frame.height());
        double[] sums = new double[across * down];
        int[] counts = new int[across * down];
        byte[] rgb = frame.rgb();
        int[] column = new int[frame.width()];
        for (int x = 0; x < column.length; x++) {
            column[x] = (int) ((long) x * across / frame.width());
        }
        for (int y = 0; y < frame.height(); y++) {
            int row = (int) ((long) y * down / frame.height()) * across;
            for (int x = 0, i = y * frame.width() * RgbImage.CHANNELS; x < column.length; x++, i += RgbImage.CHANNELS) {
                sums[row + column[x]] += luma(rgb, i);
                counts[row + column[x]]++;
            }
        }
        float[] cells = new float[sums.length];
        for (int i = 0; i < cells.length; i++) {
            cells[i] = (float) (sums[i] / counts[i]);
        }
        return new LumaGrid(across, down, cells);
    }

    /** BT.601 luma of the pixel whose red byte is at {@code i}, 0..255. */
    static double luma(byte[] rgb, int i) {
        return 0.299 * (rgb[i] & 0xff) + 0.587 * (rgb[i + 1] & 0xff) + 0.114 * (rgb[i + 2] & 0xff);
    }

    /** Cells across. */
    public int columns() {
        return columns;
    }

    /** Cells down. */
    public int rows() {
        return rows;
    }

    /** Mean luma of a cell, 0..255. */
    public double at(int column, int row) {
        return cells[row * columns + column];
    }

    /** Mean absolute difference over all cells. @throws IllegalArgumentException when the grids differ in size */
    public double distance(LumaGrid other) {
        if (other.columns != columns || other.rows != rows) {
            throw new IllegalArgumentException("luma grids of one size are compared, got " + columns + "x" + rows + " and " + other.columns + "x" + other.rows);
        }
        double sum = 0;
        for (int i = 0; i < cells.length; i++) {
            sum += Math.abs(cells[i] - other.cells[i]);
        }
        return sum / cells.length;
    }
}

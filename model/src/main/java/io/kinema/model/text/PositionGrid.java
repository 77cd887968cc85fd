package io.kinema.model.text;

/**
 * The vision tower's learned square grid of position embeddings, resampled to any patch grid: bilinear, corners aligned.
 * Host memory; immutable.
 */
final class PositionGrid {
    private final float[] table;
    private final int side;
    private final int hidden;

    /** @param table FP32 [side * side, hidden], not copied */
    PositionGrid(float[] table, int side, int hidden) {
        this.table = table;
        this.side = side;
        this.hidden = hidden;
    }

    /** Adds the embedding at patch (row, column) of a height x width grid into {@code out[at..at + hidden)}. */
    void write(int row, int height, int column, int width, float[] out, int at) {
        float y = source(row, height);
        float x = source(column, width);
        int top = (int) y;
        int left = (int) x;
        float down = y - top;
        float right = x - left;
        blend(top, left, (1 - down) * (1 - right), out, at);
        blend(top, left + 1, (1 - down) * right, out, at);
        blend(top + 1, left, down * (1 - right), out, at);
        blend(top + 1, left + 1, down * right, out, at);
    }

    /** {@code index * (side - 1) / (size - 1)} in FP32; 0 when there is one patch. */
    private float source(int index, int size) {
        return (float) (index * (side - 1)) / Math.max(size - 1, 1);
    }

    private void blend(int y, int x, float weight, float[] out, int at) {
        int row = (Math.min(y, side - 1) * side + Math.min(x, side - 1)) * hidden;
        for (int c = 0; c < hidden; c++) {
            out[at + c] += weight * table[row + c];
        }
    }
}

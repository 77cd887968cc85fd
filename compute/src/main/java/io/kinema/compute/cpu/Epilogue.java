package io.kinema.compute.cpu;

import io.kinema.compute.Tensor;
import java.util.Arrays;
import java.util.Optional;

/**
 * What follows a matrix product while its tile is warm: row scale, then bias, then the store, one rounding each.
 *
 * @param rowScale one factor per row of the whole product
 * @param bias     one term per column of this part
 */
record Epilogue(Optional<float[]> rowScale, Optional<float[]> bias) {

    boolean empty() {
        return rowScale.isEmpty() && bias.isEmpty();
    }

    /** The same for columns [from, to). */
    Epilogue columns(int from, int to) {
        return new Epilogue(rowScale, bias.map(b -> b.length == to - from ? b : Arrays.copyOfRange(b, from, to)));
    }

    /** Finishes {@code tile}, whose first row is row {@code first} of the product, into {@code out}; both may be the same. */
    void apply(Tensor tile, int first, Tensor out, Scratch scratch) {
        Rows from = Rows.of(tile);
        Rows to = Rows.of(out);
        int n = tile.size(1);
        Blocks blocks = Blocks.ofWholeRows(from.count(), n);
        for (int i = 0; i < blocks.count(); i++) {
            int rows = blocks.rowCount(i);
            float[] a = scratch.floats(0, rows * n);
            from.read(scratch, blocks.row(i), rows, a);
            for (int r = 0; r < rows; r++) {
                finish(a, r * n, n, (int) (first + blocks.row(i) + r));
            }
            to.write(scratch, blocks.row(i), rows, a);
        }
    }

    private void finish(float[] a, int at, int n, int row) {
        if (rowScale.isPresent()) {
            PlainLoops.scale(a, at, n, rowScale.get()[row]);
        }
        if (bias.isPresent()) {
            float[] b = bias.get();
            for (int i = 0; i < n; i++) {
                a[at + i] += b[i];
            }
        }
    }
}

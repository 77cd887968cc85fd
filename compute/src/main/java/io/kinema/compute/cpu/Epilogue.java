package io.kinema.compute.cpu;

import io.kinema.compute.LinearEpilogue;
import io.kinema.compute.LinearEpilogue.ScaledDelta;
import io.kinema.compute.Tensor;
import java.util.List;
import java.util.Optional;

/**
 * What follows a matrix product while its tile is warm: row scale, then bias, then the deltas, then the store, one rounding each.
 *
 * @param rowScale one factor per row of the whole product
 * @param bias     one term per column of the whole product
 * @param deltas   of the whole product
 * @param column   the first column of this part
 */
record Epilogue(Optional<float[]> rowScale, Optional<float[]> bias, List<ScaledDelta> deltas, int column) {

    static Epilogue of(Optional<Tensor> rowScale, LinearEpilogue asked) {
        return new Epilogue(rowScale.map(Tensor::toFloats), asked.bias().map(Tensor::toFloats), asked.deltas(), 0);
    }

    boolean empty() {
        return rowScale.isEmpty() && bias.isEmpty() && deltas.isEmpty();
    }

    /** The same for this part's columns from {@code first} on. */
    Epilogue from(int first) {
        return new Epilogue(rowScale, bias, deltas, column + first);
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
                finish(a, r * n, n, (int) (first + blocks.row(i) + r), scratch);
            }
            to.write(scratch, blocks.row(i), rows, a);
        }
    }

    private void finish(float[] a, int at, int n, int row, Scratch scratch) {
        if (rowScale.isPresent()) {
            PlainLoops.scale(a, at, n, rowScale.get()[row]);
        }
        if (bias.isPresent()) {
            PlainLoops.add(a, at, bias.get(), column, n);
        }
        for (ScaledDelta delta : deltas) {
            add(delta, a, at, n, row, scratch);
        }
    }

    /** The part of a delta's row that falls on columns [column, column + n). */
    private void add(ScaledDelta delta, float[] a, int at, int n, int row, Scratch scratch) {
        int from = Math.max(column, delta.column());
        int to = Math.min(column + n, delta.column() + delta.values().size(1));
        if (from < to) {
            float[] d = scratch.floats(1, to - from);
            Rows.of(delta.values()).read(scratch, row, 1, from - delta.column(), to - from, d, to - from);
            PlainLoops.addScaled(a, at + from - column, d, delta.factor(), to - from);
        }
    }
}

package io.kinema.compute;

import io.kinema.weights.EncodedMatrix;
import java.nio.file.Path;
import java.util.Objects;
import java.util.OptionalInt;

/**
 * Columns [from, to) of an encoded matrix.
 *
 * @param whole decodes whole rows
 */
record EncodedColumns(EncodedMatrix whole, int from, int to) implements EncodedMatrix {
    EncodedColumns {
        Objects.checkFromToIndex(from, to, whole.columns());
    }

    @Override
    public void decode(long first, long last, float[] out, int at) {
        int width = Math.toIntExact(whole.columns());
        float[] row = new float[width];
        for (long r = first; r < last; r++) {
            whole.decode(r, r + 1, row, 0);
            System.arraycopy(row, from, out, at + (int) (r - first) * (to - from), to - from);
        }
    }

    @Override
    public EncodedMatrix rows(long first, long last) {
        return new EncodedColumns(whole.rows(first, last), from, to);
    }

    @Override
    public String name() {
        return whole.name();
    }

    @Override
    public Path file() {
        return whole.file();
    }

    @Override
    public long rows() {
        return whole.rows();
    }

    @Override
    public long columns() {
        return to - from;
    }

    /** Its share of the whole's. */
    @Override
    public long bytes() {
        return whole.columns() == 0 ? 0 : whole.bytes() * columns() / whole.columns();
    }

    @Override
    public OptionalInt rotation() {
        return whole.rotation();
    }

    @Override
    public String encoding() {
        return whole.encoding();
    }
}

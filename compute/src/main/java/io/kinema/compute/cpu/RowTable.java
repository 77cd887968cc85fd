package io.kinema.compute.cpu;

import io.kinema.compute.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/** Rows of a table picked by a per-row index; neighbouring rows mostly pick the same one, which is then kept. */
record RowTable(Rows rows, Optional<MemorySegment> index) {

    static RowTable of(Tensor table, Optional<Tensor> index) {
        return new RowTable(Rows.of(table), index.map(Tensor::data));
    }

    /**
     * Makes {@code to} hold the row that {@code row} picks.
     *
     * @param loaded the row that {@code to} holds already, -1 for none
     * @return the row that it holds now
     */
    long load(Scratch scratch, long row, long loaded, float[] to) {
        long wanted = pick(row);
        if (wanted != loaded) {
            rows.read(scratch, wanted, 1, to);
        }
        return wanted;
    }

    private long pick(long row) {
        return index.isPresent() ? index.get().get(Rows.I32, row * Integer.BYTES) : 0;
    }
}

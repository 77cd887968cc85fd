package io.kinema.model.adapter;

import io.kinema.weights.FloatConversion;
import io.kinema.weights.StoredTensor;

/** Which ranks of a B matter. */
final class Ranks {
    private Ranks() {
    }

    /** First column that is not all zero and one past the last; 0 and 0 when all are. Side-by-side fusions leave whole blocks zero. */
    static int[] used(StoredTensor up) {
        long rows = up.shape().dim(0);
        int columns = up.shape().size(1);
        int from = columns;
        int to = 0;
        // Most matrices have a value in every column of their first row, and are then done with.
        for (long r = 0; r < rows && !(from == 0 && to == columns); r++) {
            for (int c = 0; c < from; c++) {
                if (FloatConversion.toDouble(up.dtype(), up.data(), r * columns + c) != 0) {
                    from = c;
                }
            }
            for (int c = columns - 1; c >= to; c--) {
                if (FloatConversion.toDouble(up.dtype(), up.data(), r * columns + c) != 0) {
                    to = c + 1;
                }
            }
        }
        return to == 0 ? new int[] {0, 0} : new int[] {from, to};
    }
}

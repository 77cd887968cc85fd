package io.kinema.weights;

/**
 * A matrix in an encoding that only its own decoder knows (scaled FP8, GGUF blocks): whoever multiplies by it asks for some
 * rows as FP32, uses them and forgets them. Implementations are immutable views and safe for use by several threads.
 */
public non-sealed interface EncodedMatrix extends StoredMatrix {
    /**
     * Decodes rows {@code [from, to)}, one behind the other, to {@code out} from {@code out[at]} on:
     * {@code (to - from) * columns()} values, each rounded to FP32 as the encoding defines.
     *
     * @throws IndexOutOfBoundsException when there are fewer rows, or too little room
     */
    void decode(long from, long to, float[] out, int at);

    /**
     * A bound of the magnitudes of its values: finite exactly when every value is. It may be larger than the largest value where
     * that spares an encoding from being decoded.
     */
    default float bound() {
        float[] row = new float[Math.toIntExact(columns())];
        float largest = 0;
        for (long i = 0; i < rows(); i++) {
            decode(i, i + 1, row, 0);
            for (float value : row) {
                if (!Float.isFinite(value)) {
                    return Float.POSITIVE_INFINITY;
                }
                largest = Math.max(largest, Math.abs(value));
            }
        }
        return largest;
    }

    @Override
    EncodedMatrix rows(long from, long to);
}

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

    @Override
    EncodedMatrix rows(long from, long to);
}

package io.kinema.engine.pipeline;

/**
 * Sees the named intermediates of a request, for golden comparison; names and shapes are those of the golden cases
 * ({@code prompt_embeds}, {@code video_rows_0}, {@code velocity_3}, ...). Arrays are the pipeline's own: look, or copy.
 */
public interface PipelineTap {
    /** Looks at nothing. A pipeline skips work that only a tap would see when it is given this one. */
    PipelineTap NONE = new PipelineTap() {
    };

    /** FP32 values, row-major. */
    default void floats(String name, float[] values, long... shape) {
    }

    /** FP64 values, row-major. */
    default void doubles(String name, double[] values, long... shape) {
    }

    /** Integers, row-major. */
    default void ints(String name, int[] values, long... shape) {
    }

    /** Unsigned bytes, row-major. */
    default void bytes(String name, byte[] values, long... shape) {
    }

    /** True when somebody looks, so that the pipeline makes values it would not otherwise make. */
    default boolean looks() {
        return this != NONE;
    }
}

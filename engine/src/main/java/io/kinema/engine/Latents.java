package io.kinema.engine;

/**
 * The final, normalised latents of a clip. The arrays are the clip's own; treat them as read-only.
 *
 * @param video FP32 (1, channels, frames, rows, columns), row-major
 * @param videoShape its five sizes
 * @param audio FP32 (2, channels, latents), row-major: left, right
 * @param audioShape its three sizes
 */
public record Latents(float[] video, long[] videoShape, float[] audio, long[] audioShape) {
    public Latents {
        requireSize("video", video, videoShape, 5);
        requireSize("audio", audio, audioShape, 3);
    }

    private static void requireSize(String name, float[] values, long[] shape, int axes) {
        long elements = 1;
        for (long size : shape) {
            elements *= size;
        }
        if (shape.length != axes || elements != values.length) {
            throw new IllegalArgumentException(name + " latents: got " + values.length + " values for "
                    + java.util.Arrays.toString(shape) + ", expected " + axes + " sizes with that product");
        }
    }
}

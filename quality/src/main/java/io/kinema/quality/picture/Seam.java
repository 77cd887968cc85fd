package io.kinema.quality.picture;

/**
 * A straight line across whole frames at which neighbouring pixels jump, as where two tiles meet without blending.
 *
 * @param axis     which way it runs
 * @param position the first column right of it, or the first row below it
 * @param levels   luma levels (0..255) by which the step there exceeds the steps beside it, beyond what is usual in these frames
 */
public record Seam(Axis axis, int position, double levels) {
    /** Direction of a seam. */
    public enum Axis {
        /** Between two columns. */
        VERTICAL,
        /** Between two rows. */
        HORIZONTAL
    }
}

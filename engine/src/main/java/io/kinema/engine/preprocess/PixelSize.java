package io.kinema.engine.preprocess;

/**
 * The size of a picture.
 *
 * @param width pixels
 * @param height pixels
 */
public record PixelSize(int width, int height) {

    public PixelSize {
        if (width < 1 || height < 1) {
            throw new IllegalArgumentException("size: got " + width + "x" + height + ", expected positive sides");
        }
    }

    /** {@code steps} rounded half to even, at least one, times {@code step} pixels. */
    static int snap(double steps, int step) {
        return Math.max(1, (int) Math.rint(steps)) * step;
    }

    @Override
    public String toString() {
        return width + "x" + height;
    }
}

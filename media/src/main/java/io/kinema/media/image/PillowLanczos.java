package io.kinema.media.image;

/**
 * Scales pictures exactly as Pillow's {@code Image.resize(size, LANCZOS)} does for 8-bit RGB: a three-lobed Lanczos window
 * widened when shrinking, weights of 22 fraction bits, rows first with bytes in between.
 */
public final class PillowLanczos {

    private static final double LOBES = 3;
    private static final int WEIGHT_BITS = 22;

    private PillowLanczos() {
    }

    /** The picture at another size; at its own size, the picture itself. */
    public static RgbImage resize(RgbImage source, int width, int height) {
        return ByteResize.resize(source, width, height, PillowLanczos::taps);
    }

    static ResizeTaps taps(int source, int target) {
        return ResizeTaps.of(source, target, LOBES, PillowLanczos::weight, largest -> WEIGHT_BITS);
    }

    private static double weight(double x) {
        return -LOBES <= x && x < LOBES ? sinc(x) * sinc(x / LOBES) : 0;
    }

    private static double sinc(double x) {
        if (x == 0) {
            return 1;
        }
        double angle = x * Math.PI;
        return Math.sin(angle) / angle;
    }
}

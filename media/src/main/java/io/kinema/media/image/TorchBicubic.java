package io.kinema.media.image;

/**
 * Scales pictures exactly as torch's antialiased bicubic interpolation does for 8-bit images: Keys' cubic with a = -0.5 widened
 * when shrinking, 16-bit weights with as many fraction bits as the largest of them leaves, rows first with bytes in between.
 */
public final class TorchBicubic {

    private static final double A = -0.5;
    private static final double RADIUS = 2;
    private static final int MOST_BITS = 22;
    private static final int WEIGHT_LIMIT = 1 << 15;

    private TorchBicubic() {
    }

    /** The picture at another size; at its own size, the picture itself. */
    public static RgbImage resize(RgbImage source, int width, int height) {
        return ByteResize.resize(source, width, height, TorchBicubic::taps);
    }

    static ResizeTaps taps(int source, int target) {
        return ResizeTaps.of(source, target, RADIUS, TorchBicubic::weight, TorchBicubic::bits);
    }

    /** The most fraction bits with which the largest weight, rounded, still fits 16 bits. */
    private static int bits(double largestWeight) {
        int bits = 0;
        while (bits < MOST_BITS && (int) (0.5 + largestWeight * (1 << bits + 1)) < WEIGHT_LIMIT) {
            bits++;
        }
        return bits;
    }

    private static double weight(double x) {
        double d = Math.abs(x);
        if (d < 1) {
            return ((A + 2) * d - (A + 3)) * d * d + 1;
        }
        return d < RADIUS ? (((d - 5) * d + 8) * d - 4) * A : 0;
    }
}

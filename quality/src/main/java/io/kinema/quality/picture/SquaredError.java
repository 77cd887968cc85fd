package io.kinema.quality.picture;

import io.kinema.media.image.RgbImage;

/** Sum of squared differences of two pictures: exact, all pixels and the three channels alike. */
public final class SquaredError {
    private SquaredError() {
    }

    /** The sum over {@code width * height * 3} values of 0..255. @throws IllegalArgumentException when the sizes differ */
    public static long of(RgbImage a, RgbImage b) {
        requireOneSize(a, b);
        byte[] x = a.rgb();
        byte[] y = b.rgb();
        int rowBytes = a.width() * RgbImage.CHANNELS;
        long sum = 0;
        for (int row = 0; row < a.height(); row++) {
            // An int holds a row: 255^2 * 33,000 values, and no row is as long as that below a picture of 11,000 pixels across.
            sum += rowBytes <= 33_000 ? rowSum(x, y, row * rowBytes, rowBytes) : wideRowSum(x, y, row * rowBytes, rowBytes);
        }
        return sum;
    }

    /** How many of the values differ. @throws IllegalArgumentException when the sizes differ */
    public static long differing(RgbImage a, RgbImage b) {
        requireOneSize(a, b);
        long count = 0;
        for (int i = 0; i < a.rgb().length; i++) {
            count += a.rgb()[i] == b.rgb()[i] ? 0 : 1;
        }
        return count;
    }

    static void requireOneSize(RgbImage a, RgbImage b) {
        if (a.width() != b.width() || a.height() != b.height()) {
            throw new IllegalArgumentException("frames of one size are compared, got " + a + " and " + b);
        }
    }

    private static int rowSum(byte[] x, byte[] y, int from, int count) {
        int sum = 0;
        for (int i = from; i < from + count; i++) {
            int d = (x[i] & 0xff) - (y[i] & 0xff);
            sum += d * d;
        }
        return sum;
    }

    private static long wideRowSum(byte[] x, byte[] y, int from, int count) {
        long sum = 0;
        for (int i = from; i < from + count; i++) {
            int d = (x[i] & 0xff) - (y[i] & 0xff);
            sum += (long) d * d;
        }
        return sum;
    }
}

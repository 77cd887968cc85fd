package io.kinema.media.image;

import java.util.Arrays;

/** Separable scaling of 8-bit pictures: along the rows first, rounded to bytes, then down the columns. */
final class ByteResize {

    private ByteResize() {
    }

    /** Makes the taps for one axis. */
    @FunctionalInterface
    interface Axis {
        ResizeTaps taps(int source, int target);
    }

    static RgbImage resize(RgbImage source, int width, int height, Axis axis) {
        if (width < 1 || height < 1) {
            throw new IllegalArgumentException("A picture cannot be scaled to " + width + "x" + height + "; both sides are at least 1.");
        }
        RgbImage wide = source.width() == width ? source : alongRows(source, width, axis.taps(source.width(), width));
        return wide.height() == height ? wide : downColumns(wide, height, axis.taps(wide.height(), height));
    }

    private static RgbImage alongRows(RgbImage source, int width, ResizeTaps taps) {
        RgbImage target = RgbImage.black(width, source.height());
        byte[] in = source.rgb();
        byte[] out = target.rgb();
        int half = 1 << taps.precision() - 1;
        int at = 0;
        for (int y = 0; y < source.height(); y++) {
            int row = y * source.width() * RgbImage.CHANNELS;
            for (int x = 0; x < width; x++) {
                int[] weights = taps.weights()[x];
                int from = row + taps.starts()[x] * RgbImage.CHANNELS;
                int red = half;
                int green = half;
                int blue = half;
                for (int weight : weights) {
                    red += weight * (in[from] & 0xff);
                    green += weight * (in[from + 1] & 0xff);
                    blue += weight * (in[from + 2] & 0xff);
                    from += RgbImage.CHANNELS;
                }
                out[at++] = clip(red >> taps.precision());
                out[at++] = clip(green >> taps.precision());
                out[at++] = clip(blue >> taps.precision());
            }
        }
        return target;
    }

    private static RgbImage downColumns(RgbImage source, int height, ResizeTaps taps) {
        RgbImage target = RgbImage.black(source.width(), height);
        int rowBytes = source.width() * RgbImage.CHANNELS;
        int[] sums = new int[rowBytes];
        for (int y = 0; y < height; y++) {
            Arrays.fill(sums, 1 << taps.precision() - 1);
            int from = taps.starts()[y] * rowBytes;
            for (int weight : taps.weights()[y]) {
                accumulate(sums, source.rgb(), from, weight);
                from += rowBytes;
            }
            for (int i = 0; i < rowBytes; i++) {
                target.rgb()[y * rowBytes + i] = clip(sums[i] >> taps.precision());
            }
        }
        return target;
    }

    private static void accumulate(int[] sums, byte[] row, int from, int weight) {
        for (int i = 0; i < sums.length; i++) {
            sums[i] += weight * (row[from + i] & 0xff);
        }
    }

    private static byte clip(int value) {
        return (byte) Math.clamp(value, 0, 255);
    }
}

package io.kinema.quality.picture;

import io.kinema.media.image.RgbImage;
import java.util.Arrays;

/**
 * Structural similarity of two 8-bit RGB pictures (Wang, Bovik, Sheikh, Simoncelli: "Image quality assessment: from error
 * visibility to structural similarity", 2004): at each window position
 * {@code (2 mx my + C1)(2 sxy + C2) / ((mx^2 + my^2 + C1)(sx^2 + sy^2 + C2))} with K1 = 0.01, K2 = 0.03, L = 255; the mean over all
 * positions inside the picture and over the channels R, G and B, in float64. 1 for equal pictures; at least -1.
 */
public final class Ssim {
    private static final double C1 = 0.01 * 255 * 0.01 * 255;
    private static final double C2 = 0.03 * 255 * 0.03 * 255;
    /** x, y, x^2 + y^2 and xy: the formula needs no more. */
    private static final int STATISTICS = 4;

    private final SsimWindow window;
    private final int width;
    private final int height;
    private final int across;
    private final double[][] row;
    /** Filtered along the rows: the last {@code window.size()} rows of each statistic. */
    private final double[][][] ring;
    private final double[][] local;

    private Ssim(SsimWindow window, int width, int height) {
        this.window = window;
        this.width = width;
        this.height = height;
        this.across = (width - window.size()) / window.step() + 1;
        this.row = new double[STATISTICS][width];
        this.ring = new double[STATISTICS][window.size()][across];
        this.local = new double[STATISTICS][across];
    }

    /** Whether pictures of a size hold the window at least once. */
    public static boolean takes(int width, int height, SsimWindow window) {
        return width >= window.size() && height >= window.size();
    }

    /** With {@link SsimWindow#GAUSSIAN_11}. @throws IllegalArgumentException when the sizes differ or are below 11x11 */
    public static double of(RgbImage a, RgbImage b) {
        return of(a, b, SsimWindow.GAUSSIAN_11);
    }

    /** @throws IllegalArgumentException when the sizes differ or are smaller than the window */
    public static double of(RgbImage a, RgbImage b, SsimWindow window) {
        SquaredError.requireOneSize(a, b);
        if (!takes(a.width(), a.height(), window)) {
            throw new IllegalArgumentException("SSIM: got " + a + ", expected at least " + window.size() + "x" + window.size());
        }
        double sum = 0;
        for (int channel = 0; channel < RgbImage.CHANNELS; channel++) {
            sum += new Ssim(window, a.width(), a.height()).channel(a.rgb(), b.rgb(), channel);
        }
        return sum / RgbImage.CHANNELS;
    }

    private double channel(byte[] a, byte[] b, int channel) {
        int size = window.size();
        double sum = 0;
        long positions = 0;
        for (int y = 0; y < height; y++) {
            readRow(a, b, y * width * RgbImage.CHANNELS + channel);
            for (int s = 0; s < STATISTICS; s++) {
                filterAlong(row[s], ring[s][y % size]);
            }
            int top = y - size + 1;
            if (top >= 0 && top % window.step() == 0) {
                sum += positionsFrom(top);
                positions += across;
            }
        }
        return sum / positions;
    }

    private void readRow(byte[] a, byte[] b, int from) {
        for (int x = 0; x < width; x++) {
            double p = a[from + x * RgbImage.CHANNELS] & 0xff;
            double q = b[from + x * RgbImage.CHANNELS] & 0xff;
            row[0][x] = p;
            row[1][x] = q;
            row[2][x] = p * p + q * q;
            row[3][x] = p * q;
        }
    }

    /** Taps outside, pixels inside: a loop the compiler makes vectors of, with one order of summation whatever their width. */
    private void filterAlong(double[] in, double[] out) {
        Arrays.fill(out, 0);
        double[] taps = window.taps();
        for (int k = 0; k < taps.length; k++) {
            double tap = taps[k];
            if (window.step() == 1) {
                for (int i = 0; i < across; i++) {
                    out[i] += tap * in[i + k];
                }
            } else {
                for (int i = 0; i < across; i++) {
                    out[i] += tap * in[i * window.step() + k];
                }
            }
        }
    }

    private double positionsFrom(int top) {
        int size = window.size();
        for (int s = 0; s < STATISTICS; s++) {
            Arrays.fill(local[s], 0);
            for (int k = 0; k < size; k++) {
                addScaled(window.taps()[k], ring[s][(top + k) % size], local[s]);
            }
        }
        double n = (double) size * size;
        double bias = window.unbiased() ? n / (n - 1) : 1;
        double sum = 0;
        for (int i = 0; i < across; i++) {
            sum += similarity(local[0][i], local[1][i], local[2][i], local[3][i], bias);
        }
        return sum;
    }

    private static void addScaled(double tap, double[] in, double[] out) {
        for (int i = 0; i < out.length; i++) {
            out[i] += tap * in[i];
        }
    }

    private static double similarity(double mx, double my, double squares, double product, double bias) {
        double variances = (squares - mx * mx - my * my) * bias;
        double covariance = (product - mx * my) * bias;
        return (2 * mx * my + C1) * (2 * covariance + C2) / ((mx * mx + my * my + C1) * (variances + C2));
    }
}

package io.kinema.quality.picture;

import java.util.Arrays;

/**
 * Over what local statistics are taken for SSIM: a separable window, slid over all positions that lie wholly inside.
 *
 * @param name     what reports call it
 * @param taps     weights along one axis, summing to 1; the window is their product with themselves
 * @param step     pixels between two positions
 * @param unbiased whether variances are multiplied by N / (N - 1), N the window's pixels
 */
public record SsimWindow(String name, double[] taps, int step, boolean unbiased) {
    /** Wang, Bovik, Sheikh and Simoncelli 2004: 11x11 Gaussian of sigma 1.5, every position, population statistics. */
    public static final SsimWindow GAUSSIAN_11 = new SsimWindow("11x11 Gaussian, sigma 1.5", gaussian(11, 1.5), 1, false);

    /** What FFmpeg's {@code ssim} filter uses: 8x8 blocks at every fourth position, sample statistics. */
    public static final SsimWindow BLOCK_8 = new SsimWindow("8x8 block, step 4", box(8), 4, true);

    /** Pixels along one side. */
    public int size() {
        return taps.length;
    }

    private static double[] gaussian(int size, double sigma) {
        double[] taps = new double[size];
        double sum = 0;
        for (int i = 0; i < size; i++) {
            double x = i - (size - 1) / 2.0;
            taps[i] = Math.exp(-x * x / (2 * sigma * sigma));
            sum += taps[i];
        }
        for (int i = 0; i < size; i++) {
            taps[i] /= sum;
        }
        return taps;
    }

    private static double[] box(int size) {
        double[] taps = new double[size];
        Arrays.fill(taps, 1.0 / size);
        return taps;
    }
}

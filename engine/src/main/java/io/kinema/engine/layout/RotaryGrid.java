package io.kinema.engine.layout;

/**
 * Rotary coordinates in float64, with the roundings of NumPy and PyTorch where the order of operations shows in the bits.
 *
 * <p>Time: latent frame k of a video lasts {@code 5/3 * (1, 4, 4, 4, 4)[k mod 5]}, the VAE's 17 frames in 5 latent frames at
 * 40 units a second. Space: a side of d latent pixels has ratio {@code d / sqrt(h w)} and gives {@code d / patch} values from
 * {@code (1 - ratio) / 2} on, end left out, times 32.
 */
final class RotaryGrid {
    private static final double FRAME = 5.0 / 3.0;
    private static final int[] FRAMES_PER_LATENT = {1, 4, 4, 4, 4};
    private static final double SPATIAL_SCALE = 32;

    private RotaryGrid() {
    }

    /** Rotary time that latent frame {@code k} of a video lasts. */
    static double span(int k) {
        return FRAME * FRAMES_PER_LATENT[k % FRAMES_PER_LATENT.length];
    }

    /** Start times of {@code frames} latent frames: origin plus running sums of the spans in front. */
    static double[] frameTimes(int frames, double origin) {
        double[] times = new double[frames];
        double sum = 0;
        for (int k = 0; k < frames; k++) {
            times[k] = origin + sum;
            sum += span(k);
        }
        return times;
    }

    /** All spans added one by one: how far a video reference moves the clock. */
    static double runningSpan(int frames) {
        double sum = 0;
        for (int k = 0; k < frames; k++) {
            sum += span(k);
        }
        return sum;
    }

    /** Time of a keyframe at the clip's end: the spans summed as NumPy does it, less one pixel frame. */
    static double lastAnchor(int frames, double origin) {
        double[] spans = new double[frames];
        for (int k = 0; k < frames; k++) {
            spans[k] = span(k);
        }
        return origin + pairwiseSum(spans, 0, frames) - FRAME;
    }

    /**
     * {@code numpy.sum} of contiguous float64: plain below 8 values, eight accumulators up to 128, halves (cut at a multiple
     * of 8) above.
     */
    static double pairwiseSum(double[] x, int from, int n) {
        if (n < 8) {
            double sum = 0;
            for (int i = 0; i < n; i++) {
                sum += x[from + i];
            }
            return sum;
        }
        if (n > 128) {
            int half = n / 2 - n / 2 % 8;
            return pairwiseSum(x, from, half) + pairwiseSum(x, from + half, n - half);
        }
        return unrolledSum(x, from, n);
    }

    private static double unrolledSum(double[] x, int from, int n) {
        double[] r = new double[8];
        System.arraycopy(x, from, r, 0, 8);
        int i = 8;
        for (; i + 8 <= n; i += 8) {
            for (int j = 0; j < 8; j++) {
                r[j] += x[from + i + j];
            }
        }
        double sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
        for (; i < n; i++) {
            sum += x[from + i];
        }
        return sum;
    }

    /** Coordinates along one side of {@code size} latent pixels: {@code i * step + left}, then times 32. */
    static double[] side(int size, int patch, double sqrtArea) {
        double ratio = size / sqrtArea;
        double left = (1 - ratio) / 2;
        int n = size / patch;
        double step = ((left + ratio) - left) / n;
        double[] out = new double[n];
        for (int i = 0; i < n; i++) {
            out[i] = (i * step + left) * SPATIAL_SCALE;
        }
        return out;
    }

    /** Both sides of one latent frame. */
    static Frame frame(int height, int width, Patch patch) {
        double sqrtArea = Math.sqrt((double) height * width);
        return new Frame(side(height, patch.height(), sqrtArea), side(width, patch.width(), sqrtArea));
    }

    /** Height and width coordinates of a frame's rows; belongs to one layout and is never changed. */
    record Frame(double[] heights, double[] widths) {
        int rows() {
            return heights.length * widths.length;
        }

        double left() {
            return widths[0];
        }

        double right() {
            return widths[widths.length - 1];
        }
    }
}

package io.kinema.quality.sound;

/**
 * The discrete Fourier transform of a power of two complex numbers, radix 2 in float64, in place. Our own, because FFmpeg's picks
 * its instructions by processor, and a measured number should be the same bits everywhere. Safe for several threads.
 */
final class Fft {
    private final int size;
    private final double[] cosine;
    private final double[] sine;

    /** @param size a power of two, at least 2 */
    Fft(int size) {
        if (size < 2 || Integer.bitCount(size) != 1) {
            throw new IllegalArgumentException("FFT: got a size of " + size + ", expected a power of two");
        }
        this.size = size;
        this.cosine = new double[size / 2];
        this.sine = new double[size / 2];
        for (int i = 0; i < size / 2; i++) {
            cosine[i] = Math.cos(2 * Math.PI * i / size);
            sine[i] = -Math.sin(2 * Math.PI * i / size);
        }
    }

    /** Replaces x by X with X[k] = sum over n of x[n] exp(-2 pi i n k / size). */
    void forward(double[] re, double[] im) {
        reverseBits(re, im);
        for (int half = 1; half < size; half *= 2) {
            int stride = size / (2 * half);
            for (int block = 0; block < size; block += 2 * half) {
                for (int k = 0; k < half; k++) {
                    butterfly(re, im, block + k, block + k + half, cosine[k * stride], sine[k * stride]);
                }
            }
        }
    }

    private static void butterfly(double[] re, double[] im, int i, int j, double c, double s) {
        double r = re[j] * c - im[j] * s;
        double m = re[j] * s + im[j] * c;
        re[j] = re[i] - r;
        im[j] = im[i] - m;
        re[i] += r;
        im[i] += m;
    }

    private void reverseBits(double[] re, double[] im) {
        int shift = Integer.numberOfLeadingZeros(size) + 1;
        for (int i = 0; i < size; i++) {
            int j = Integer.reverse(i) >>> shift;
            if (j > i) {
                swap(re, i, j);
                swap(im, i, j);
            }
        }
    }

    private static void swap(double[] x, int i, int j) {
        double held = x[i];
        x[i] = x[j];
        x[j] = held;
    }
}

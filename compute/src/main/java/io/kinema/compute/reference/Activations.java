package io.kinema.compute.reference;

/** Scalar activations, computed in FP64 and rounded once. */
final class Activations {
    private Activations() {
    }

    /** {@code x / (1 + exp(-x))}; 0 for -infinity's neighbours, never NaN for finite x. */
    static float silu(float x) {
        return (float) (x / (1 + Math.exp(-(double) x)));
    }

    static float geluTanh(float x) {
        double inner = Math.sqrt(2 / Math.PI) * (x + 0.044715 * x * (double) x * x);
        return (float) (0.5 * x * (1 + Math.tanh(inner)));
    }

    static float geluErf(float x) {
        return (float) (0.5 * x * erfc(-x / Math.sqrt(2)));
    }

    /**
     * Complementary error function: the Taylor series of erf for small |z|, the continued fraction of erfc for large
     * (Abramowitz and Stegun 7.1.6 and 7.1.14), both to FP64 accuracy.
     */
    static double erfc(double z) {
        if (z < 0) {
            return 2 - erfc(-z);
        }
        return z < 2.5 ? 1 - erfSeries(z) : erfcFraction(z);
    }

    private static double erfSeries(double z) {
        double term = z;
        double sum = z;
        for (int n = 1; Math.abs(term) > 1e-18 * Math.abs(sum); n++) {
            term *= 2 * z * z / (2 * n + 1);
            sum += term;
        }
        return 2 / Math.sqrt(Math.PI) * Math.exp(-z * z) * sum;
    }

    private static double erfcFraction(double z) {
        double tail = z;
        for (int n = 120; n >= 1; n--) {
            tail = z + n / 2.0 / tail;
        }
        return Math.exp(-z * z) / Math.sqrt(Math.PI) / tail;
    }
}

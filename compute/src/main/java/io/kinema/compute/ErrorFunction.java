package io.kinema.compute;

/**
 * The error function in FP64 and the exact form of gelu: its Taylor series near 0 and a continued fraction of erfc beyond
 * (Abramowitz and Stegun 7.1.6, 7.1.14).
 */
public final class ErrorFunction {
    private static final double SERIES_LIMIT = 2.5;
    private static final int FRACTION_DEPTH = 120;

    private ErrorFunction() {
    }

    /** {@code 0.5 x (1 + erf(x / sqrt 2))}, rounded once. */
    public static float gelu(float x) {
        return (float) (0.5 * x * erfc(-x / Math.sqrt(2)));
    }

    /** {@code 1 - erf(z)} without cancellation for large z. */
    public static double erfc(double z) {
        if (z < 0) {
            return 2 - erfc(-z);
        }
        return z < SERIES_LIMIT ? 1 - series(z) : fraction(z);
    }

    private static double series(double z) {
        double term = z;
        double sum = z;
        for (int n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); n++) {
            term *= 2 * z * z / (2 * n + 1);
            sum += term;
        }
        return 2 / Math.sqrt(Math.PI) * Math.exp(-z * z) * sum;
    }

    private static double fraction(double z) {
        double tail = z;
        for (int n = FRACTION_DEPTH; n >= 1; n--) {
            tail = z + n / 2.0 / tail;
        }
        return Math.exp(-z * z) / Math.sqrt(Math.PI) / tail;
    }
}

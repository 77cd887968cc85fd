package io.kinema.compute.cpu;

/** Loops over heap arrays that the compiler turns into vector code by itself. */
final class PlainLoops {
    private PlainLoops() {
    }

    static void add(float[] a, float[] b, int n) {
        for (int i = 0; i < n; i++) {
            a[i] += b[i];
        }
    }

    static void scale(float[] a, int at, int n, float factor) {
        for (int i = at; i < at + n; i++) {
            a[i] *= factor;
        }
    }

    /** {@code a[at + i] = fma(factor, delta[i], a[at + i])} for i in [0, n). */
    static void addScaled(float[] a, int at, float[] delta, float factor, int n) {
        for (int i = 0; i < n; i++) {
            a[at + i] = Math.fma(factor, delta[i], a[at + i]);
        }
    }

    /** {@code to[at + i] = values[i] * factor} for i in [0, n). */
    static void scaled(byte[] values, int n, float factor, float[] to, int at) {
        for (int i = 0; i < n; i++) {
            to[at + i] = values[i] * factor;
        }
    }

    static void affine(float[] a, int at, int n, float factor, float term) {
        for (int i = at; i < at + n; i++) {
            float product = a[i] * factor;
            a[i] = product + term;
        }
    }

    /** {@code a -= mean} over [at, at + n). */
    static void subtract(float[] a, int at, int n, float mean) {
        for (int i = at; i < at + n; i++) {
            a[i] -= mean;
        }
    }

    /** Plain comparisons leave NaN alone. */
    static void clamp(float[] a, int n, float low, float high) {
        for (int i = 0; i < n; i++) {
            float x = a[i];
            a[i] = x < low ? low : x > high ? high : x;
        }
    }

    /** {@code a = a + invBeta * sin(alpha * a)^2} over [at, at + n); the sum is one FMA. */
    static void snake(float[] a, int at, int n, float alpha, float invBeta) {
        if (!(largestMagnitude(a, at, n) < VectorMath.SIN_LIMIT / Math.abs(alpha))) {
            snakeOfAny(a, at, n, alpha, invBeta);
            return;
        }
        for (int i = at; i < at + n; i++) {
            float x = a[i];
            a[i] = Math.fma(VectorMath.sinSquared(x * alpha), invBeta, x);
        }
    }

    /** The largest |a| of [at, at + n), NaN when there is a NaN. */
    static float largestMagnitude(float[] a, int at, int n) {
        float largest = 0;
        for (int i = at; i < at + n; i++) {
            largest = Math.max(largest, Math.abs(a[i]));
        }
        return largest;
    }

    /** For arguments beyond the fast sine's range, infinities and NaN. */
    private static void snakeOfAny(float[] a, int at, int n, float alpha, float invBeta) {
        for (int i = at; i < at + n; i++) {
            double sine = Math.sin(alpha * a[i]);
            a[i] = (float) (a[i] + invBeta * sine * sine);
        }
    }

    /** {@code a[at + i] += b[from + i]}. */
    static void add(float[] a, int at, float[] b, int from, int n) {
        for (int i = 0; i < n; i++) {
            a[at + i] += b[from + i];
        }
    }
}

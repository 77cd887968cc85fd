package io.kinema.compute.cpu;

import jdk.incubator.vector.FloatVector;

/**
 * Loops over heap arrays, written with vectors. Arrays have room for one vector beyond the last value
 * ({@link Scratch#floats}): loops that own their arrays run whole vectors into it; loops over parts of an array, and
 * reductions, end with scalars.
 */
final class VectorLoops {
    private VectorLoops() {
    }

    static void silu(float[] a, int n) {
        for (int i = 0; i < n; i += Lanes.COUNT) {
            VectorMath.silu(Lanes.load(a, i)).intoArray(a, i);
        }
    }

    /** {@code gate = silu(gate) * up}. */
    static void swiglu(float[] gate, float[] up, int n) {
        for (int i = 0; i < n; i += Lanes.COUNT) {
            VectorMath.silu(Lanes.load(gate, i)).mul(Lanes.load(up, i)).intoArray(gate, i);
        }
    }

    static void geluTanh(float[] a, int n) {
        for (int i = 0; i < n; i += Lanes.COUNT) {
            VectorMath.geluTanh(Lanes.load(a, i)).intoArray(a, i);
        }
    }

    /** {@code gate = geluTanh(gate) * up}. */
    static void geglu(float[] gate, float[] up, int n) {
        for (int i = 0; i < n; i += Lanes.COUNT) {
            VectorMath.geluTanh(Lanes.load(gate, i)).mul(Lanes.load(up, i)).intoArray(gate, i);
        }
    }

    /** {@code a = fma(factor, b, a)}. */
    static void addScaled(float[] a, float[] b, float factor, int n) {
        FloatVector factors = Lanes.all(factor);
        for (int i = 0; i < n; i += Lanes.COUNT) {
            Lanes.load(b, i).fma(factors, Lanes.load(a, i)).intoArray(a, i);
        }
    }

    /** {@code a[at + i] += factors[i] * b[at + i]} for i in [0, n), product and sum rounded separately. */
    static void addProduct(float[] a, float[] b, int at, float[] factors, int n) {
        int i = 0;
        for (; i <= n - Lanes.COUNT; i += Lanes.COUNT) {
            Lanes.load(a, at + i).add(Lanes.load(factors, i).mul(Lanes.load(b, at + i))).intoArray(a, at + i);
        }
        for (; i < n; i++) {
            float product = factors[i] * b[at + i];
            a[at + i] += product;
        }
    }

    /** {@code a[at + i] = a[at + i] * factor * weights[i]} for i in [0, n), two roundings. */
    static void scaleByRow(float[] a, int at, float factor, float[] weights, int n) {
        int i = 0;
        for (; i <= n - Lanes.COUNT; i += Lanes.COUNT) {
            Lanes.load(a, at + i).mul(factor).mul(Lanes.load(weights, i)).intoArray(a, at + i);
        }
        for (; i < n; i++) {
            a[at + i] = a[at + i] * factor * weights[i];
        }
    }

    /** {@code a[at + i] = a[at + i] * (1 + scale[i]) + shift[i]} for i in [0, n), product and sum rounded separately. */
    static void modulate(float[] a, int at, float[] scale, float[] shift, int n) {
        int i = 0;
        for (; i <= n - Lanes.COUNT; i += Lanes.COUNT) {
            Lanes.load(a, at + i).mul(Lanes.load(scale, i).add(1f)).add(Lanes.load(shift, i)).intoArray(a, at + i);
        }
        for (; i < n; i++) {
            float product = a[at + i] * (1 + scale[i]);
            a[at + i] = product + shift[i];
        }
    }

    /**
     * Rotates the halves [at, at + half) and [at + half, at + 2 half) by tables of 2 half values from {@code table} on;
     * products and sum rounded separately.
     */
    static void rotate(float[] a, int at, float[] cos, float[] sin, int table, int half) {
        if (half < Lanes.COUNT) {
            rotateScalar(a, at, cos, sin, table, half);
            return;
        }
        // The last vector overlaps the one before it: its inputs are read before that one is overwritten.
        int last = half - Lanes.COUNT;
        FloatVector lastX = Lanes.load(a, at + last);
        FloatVector lastY = Lanes.load(a, at + half + last);
        for (int i = 0; i < last; i += Lanes.COUNT) {
            rotate(Lanes.load(a, at + i), Lanes.load(a, at + half + i), a, at + i, cos, sin, table + i, half);
        }
        rotate(lastX, lastY, a, at + last, cos, sin, table + last, half);
    }

    private static void rotateScalar(float[] a, int at, float[] cos, float[] sin, int table, int half) {
        for (int i = 0; i < half; i++) {
            float x = a[at + i];
            float y = a[at + half + i];
            float ySin = y * sin[table + i];
            float xSin = x * sin[table + half + i];
            float xCos = x * cos[table + i];
            float yCos = y * cos[table + half + i];
            a[at + i] = xCos - ySin;
            a[at + half + i] = yCos + xSin;
        }
    }

    private static void rotate(FloatVector x, FloatVector y, float[] a, int at, float[] cos, float[] sin, int table, int half) {
        FloatVector ySin = y.mul(Lanes.load(sin, table));
        FloatVector xSin = x.mul(Lanes.load(sin, table + half));
        x.mul(Lanes.load(cos, table)).sub(ySin).intoArray(a, at);
        y.mul(Lanes.load(cos, table + half)).add(xSin).intoArray(a, at + half);
    }

    /** Sum of squares of [at, at + n): four running sums of {@link Lanes#COUNT} lanes each, then the rest one by one. */
    static float sumOfSquares(float[] a, int at, int n) {
        FloatVector s0 = Lanes.all(0f);
        FloatVector s1 = s0;
        FloatVector s2 = s0;
        FloatVector s3 = s0;
        int i = at;
        for (; i <= at + n - 4 * Lanes.COUNT; i += 4 * Lanes.COUNT) {
            FloatVector x0 = Lanes.load(a, i);
            FloatVector x1 = Lanes.load(a, i + Lanes.COUNT);
            FloatVector x2 = Lanes.load(a, i + 2 * Lanes.COUNT);
            FloatVector x3 = Lanes.load(a, i + 3 * Lanes.COUNT);
            s0 = x0.fma(x0, s0);
            s1 = x1.fma(x1, s1);
            s2 = x2.fma(x2, s2);
            s3 = x3.fma(x3, s3);
        }
        for (; i <= at + n - Lanes.COUNT; i += Lanes.COUNT) {
            FloatVector x = Lanes.load(a, i);
            s0 = x.fma(x, s0);
        }
        float sum = Lanes.sum(s0.add(s1).add(s2.add(s3)));
        for (; i < at + n; i++) {
            sum += a[i] * a[i];
        }
        return sum;
    }

    /** Sum of [at, at + n), in the same order. */
    static float sum(float[] a, int at, int n) {
        FloatVector s0 = Lanes.all(0f);
        FloatVector s1 = s0;
        FloatVector s2 = s0;
        FloatVector s3 = s0;
        int i = at;
        for (; i <= at + n - 4 * Lanes.COUNT; i += 4 * Lanes.COUNT) {
            s0 = s0.add(Lanes.load(a, i));
            s1 = s1.add(Lanes.load(a, i + Lanes.COUNT));
            s2 = s2.add(Lanes.load(a, i + 2 * Lanes.COUNT));
            s3 = s3.add(Lanes.load(a, i + 3 * Lanes.COUNT));
        }
        for (; i <= at + n - Lanes.COUNT; i += Lanes.COUNT) {
            s0 = s0.add(Lanes.load(a, i));
        }
        float sum = Lanes.sum(s0.add(s1).add(s2.add(s3)));
        for (; i < at + n; i++) {
            sum += a[i];
        }
        return sum;
    }

    /** The largest of the first n values; -infinity for none. A NaN may be passed over. */
    static float largest(float[] a, int n) {
        FloatVector m0 = Lanes.all(Float.NEGATIVE_INFINITY);
        FloatVector m1 = m0;
        int i = 0;
        for (; i <= n - 2 * Lanes.COUNT; i += 2 * Lanes.COUNT) {
            m0 = Lanes.larger(m0, Lanes.load(a, i));
            m1 = Lanes.larger(m1, Lanes.load(a, i + Lanes.COUNT));
        }
        float largest = Lanes.largest(Lanes.larger(m0, m1));
        for (; i < n; i++) {
            largest = a[i] > largest ? a[i] : largest;
        }
        return largest;
    }

    /** {@code a = e^(a - largest)} over the first n values; returns their {@link #sum}. */
    static float expAndSum(float[] a, int n, float largest) {
        VectorMath.expOfDifferences(a, n, largest);
        return sum(a, 0, n);
    }

    /** {@code to[at + i] = sum_j taps[j] * from[start + i + j]} for i in [0, n), by FMA in the order of j. */
    static void fir(float[] from, int start, float[] taps, float[] to, int at, int n) {
        for (int i = 0; i < n; i += Lanes.COUNT) {
            FloatVector sum = Lanes.all(0f);
            for (int j = 0; j < taps.length; j++) {
                sum = Lanes.load(from, start + i + j).fma(Lanes.all(taps[j]), sum);
            }
            sum.intoArray(to, at + i);
        }
    }

    /** {@code to[i] = sum_j taps[j] * from[offsets[j] + i]} for i in [0, n), by FMA in the order of j. */
    static void gatheredFir(float[] from, int[] offsets, float[] taps, float[] to, int n) {
        for (int i = 0; i < n; i += Lanes.COUNT) {
            FloatVector sum = Lanes.all(0f);
            for (int j = 0; j < taps.length; j++) {
                sum = Lanes.load(from, offsets[j] + i).fma(Lanes.all(taps[j]), sum);
            }
            sum.intoArray(to, i);
        }
    }
}

package io.kinema.compute.cpu;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorOperators;

/**
 * Elementary functions on vectors, about one ulp, from multiplications, additions and FMA only: the result of a lane does not
 * depend on the vector width, on its position or on whether the code was compiled. (The Vector API's own EXP and SIN do.)
 * The polynomials are minimax fits of the stated functions, made for this class.
 */
final class VectorMath {
    private static final float LOG2_E = 1.44269504f;
    /** ln 2 in two parts; the upper has few enough bits that n times it is exact. */
    private static final float LN2_HI = 0x1.62e4p-1f;
    private static final float LN2_LO = 0x1.7f7d1cp-20f;
    /** Adding and subtracting 1.5 * 2^23 rounds to an integer and leaves it in the low mantissa bits. */
    private static final float ROUND = 0x1.8p23f;
    private static final int EXPONENT_ONE = 127 << 23;
    /** e^r = 1 + (r + r^2 (TAIL_1 + TAIL_2 r + ...)) for |r| <= ln(2) / 2. */
    private static final float TAIL_1 = 0.49999994f;
    private static final float TAIL_2 = 0.16666521f;
    private static final float TAIL_3 = 0.04166839f;
    private static final float TAIL_4 = 0.008368745f;
    private static final float TAIL_5 = 0.001381454f;
    /** Results below 2^-125 (here) and 2^-126 (softmax) are flushed to 0. */
    private static final float EXP_LOWEST = -86.64f;
    private static final float SOFTMAX_LOWEST = -87.33654f;
    private static final float EXP_HIGHEST = 88.72283f;

    private static final float PI_A = 0x1.921fb6p1f;
    private static final float PI_B = -0x1.777a5cp-24f;
    private static final float PI_C = -0x1.ee59dap-49f;
    private static final float INVERSE_PI = 0.31830987f;
    /** Up to here the three-part reduction of {@link #sinSquared} keeps its accuracy. */
    static final float SIN_LIMIT = 1 << 20;

    private VectorMath() {
    }

    /** e^x for x in [-86.6, 88.7], 0 below, infinity above, NaN for NaN. */
    static FloatVector exp(FloatVector x) {
        FloatVector shifted = x.fma(Lanes.all(LOG2_E), Lanes.all(ROUND));
        FloatVector n = shifted.sub(ROUND);
        FloatVector r = n.fma(Lanes.all(-LN2_HI), x);
        r = n.fma(Lanes.all(-LN2_LO), r);
        FloatVector p = expTail(r);
        // 2^n as 2^(n - 1) * 2: n reaches 128, which no FP32 exponent field holds.
        FloatVector half = shifted.viewAsIntegralLanes().lanewise(VectorOperators.LSHL, 23)
                .add(EXPONENT_ONE - (1 << 23)).viewAsFloatingLanes();
        FloatVector y = p.mul(half).mul(2f);
        y = y.blend(Lanes.all(0f), x.compare(VectorOperators.LT, EXP_LOWEST));
        return y.blend(Lanes.all(Float.POSITIVE_INFINITY), x.compare(VectorOperators.GT, EXP_HIGHEST));
    }

    /**
     * {@code a = e^(a - largest)} over the first n values, rounded up to whole vectors, none above {@code largest} (softmax); 0 below e^-87.3, NaN for NaN.
     *
     * <p>The polynomial is written out where it is used, and with the Vector API's own methods, which the JVM always inlines: whether it inlines a
     * method of ours depends on what it happened to compile first, and a vector that passes through a call is an object.
     */
    static void expOfDifferences(float[] a, int n, float largest) {
        FloatVector log2e = FloatVector.broadcast(Lanes.F32, LOG2_E);
        FloatVector round = FloatVector.broadcast(Lanes.F32, ROUND);
        FloatVector zero = FloatVector.broadcast(Lanes.F32, 0f);
        for (int i = 0; i < n; i += Lanes.COUNT) {
            FloatVector x = FloatVector.fromArray(Lanes.F32, a, i).sub(largest);
            FloatVector shifted = x.fma(log2e, round);
            FloatVector whole = shifted.sub(ROUND);
            FloatVector r = whole.fma(FloatVector.broadcast(Lanes.F32, -LN2_HI), x);
            r = whole.fma(FloatVector.broadcast(Lanes.F32, -LN2_LO), r);
            FloatVector q = r.fma(FloatVector.broadcast(Lanes.F32, TAIL_5), FloatVector.broadcast(Lanes.F32, TAIL_4));
            q = q.fma(r, FloatVector.broadcast(Lanes.F32, TAIL_3));
            q = q.fma(r, FloatVector.broadcast(Lanes.F32, TAIL_2));
            q = q.fma(r, FloatVector.broadcast(Lanes.F32, TAIL_1));
            FloatVector power = q.fma(r.mul(r), r).add(1f);
            FloatVector scale = shifted.viewAsIntegralLanes().lanewise(VectorOperators.LSHL, 23).add(EXPONENT_ONE).viewAsFloatingLanes();
            power.mul(scale).blend(zero, x.compare(VectorOperators.LT, SOFTMAX_LOWEST)).intoArray(a, i);
        }
    }

    /** e^r for |r| <= ln(2) / 2: 1 + (r + r^2 q(r)). */
    private static FloatVector expTail(FloatVector r) {
        FloatVector q = r.fma(Lanes.all(TAIL_5), Lanes.all(TAIL_4));
        q = q.fma(r, Lanes.all(TAIL_3));
        q = q.fma(r, Lanes.all(TAIL_2));
        q = q.fma(r, Lanes.all(TAIL_1));
        return q.fma(r.mul(r), r).add(1f);
    }

    /** {@code 1 / (1 + e^-x)} times x; -0 for large negative x. */
    static FloatVector silu(FloatVector x) {
        return x.div(exp(x.neg()).add(1f));
    }

    /** {@code 0.5 x (1 + tanh u) = x / (1 + e^(-2u))} with u = sqrt(2 / pi) (x + 0.044715 x^3). */
    static FloatVector geluTanh(FloatVector x) {
        FloatVector inner = x.mul(x).fma(Lanes.all(-0.071354814f), Lanes.all(-1.5957692f)).mul(x);
        return x.div(exp(inner).add(1f));
    }

    /**
     * sin(t)^2 for |t| up to {@link #SIN_LIMIT}: sin^2 has period pi, so the reduced sine needs no sign. Scalar: it has no
     * bit tricks, so the compiler makes vector code of a loop around it, and before that it runs faster than vectors do.
     */
    static float sinSquared(float t) {
        float n = Math.fma(t, INVERSE_PI, ROUND) - ROUND;
        float r = Math.fma(n, -PI_A, t);
        r = Math.fma(n, -PI_B, r);
        r = Math.fma(n, -PI_C, r);
        float z = r * r;
        float p = Math.fma(z, 2.608904e-6f, -1.9811101e-4f);
        p = Math.fma(p, z, 8.333088e-3f);
        p = Math.fma(p, z, -0.1666666f);
        float sine = Math.fma(p, r * z, r);
        return sine * sine;
    }
}

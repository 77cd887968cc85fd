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
}

package io.kinema.quality.tensor;

/**
 * Sums up ||a - b||2 / ||b||2 of a candidate {@code a} and a reference {@code b}, element by element, in float64.
 *
 * <p>Two tensors of nothing but zeros are 0 apart; a candidate that differs from a reference of zeros is infinitely far. One NaN or
 * infinity in either makes the result NaN, which no gate passes. For one thread.
 */
public final class RelativeL2 {
    private double difference;
    private double reference;

    /** Relative L2 distance of two tensors of the same shape, row-major. @throws IllegalArgumentException when the lengths differ */
    public static double of(float[] candidate, float[] reference) {
        if (candidate.length != reference.length) {
            throw new IllegalArgumentException("relative L2: got " + candidate.length + " values, expected the reference's " + reference.length);
        }
        RelativeL2 sum = new RelativeL2();
        for (int i = 0; i < candidate.length; i++) {
            sum.add(candidate[i], reference[i]);
        }
        return sum.value();
    }

    /** Takes one pair of elements. */
    public void add(double a, double b) {
        double d = a - b;
        difference += d * d;
        reference += b * b;
    }

    /** The distance of all that was added; 0 when nothing was. */
    public double value() {
        if (!Double.isFinite(difference) || !Double.isFinite(reference)) {
            return Double.NaN;
        }
        return difference == 0 ? 0 : Math.sqrt(difference) / Math.sqrt(reference);
    }
}

package io.kinema.media.image;

import java.util.function.DoubleUnaryOperator;

/**
 * Which source positions make each target position of one axis, and how much: the antialiased filter windows of Pillow and
 * torch, which agree on all but the filter and the rounding of weights.
 *
 * @param starts first source position of each target position
 * @param weights {@code [target][tap]} fixed-point weights
 * @param precision fraction bits of the weights
 */
record ResizeTaps(int[] starts, int[][] weights, int precision) {

    /** The fraction bits for weights whose largest is given. */
    @FunctionalInterface
    interface Precision {
        int bits(double largestWeight);
    }

    /**
     * Windows for scaling one axis.
     *
     * @param source positions before
     * @param target positions after
     * @param radius the filter is zero from here on, in target positions when shrinking and source positions when enlarging
     * @param filter weight at a distance from the centre
     * @param precision rule for the fraction bits
     */
    static ResizeTaps of(int source, int target, double radius, DoubleUnaryOperator filter, Precision precision) {
        double scale = (double) source / target;
        double stretch = Math.max(scale, 1);
        double support = radius * stretch;
        int[] starts = new int[target];
        double[][] exact = new double[target][];
        double largest = 0;
        for (int i = 0; i < target; i++) {
            double centre = (i + 0.5) * scale;
            starts[i] = Math.max((int) (centre - support + 0.5), 0);
            int end = Math.min((int) (centre + support + 0.5), source);
            exact[i] = window(starts[i], end, centre, stretch, filter);
            for (double weight : exact[i]) {
                largest = Math.max(largest, weight);
            }
        }
        int bits = precision.bits(largest);
        int[][] weights = new int[target][];
        for (int i = 0; i < target; i++) {
            weights[i] = rounded(exact[i], bits);
        }
        return new ResizeTaps(starts, weights, bits);
    }

    private static double[] window(int start, int end, double centre, double stretch, DoubleUnaryOperator filter) {
        double[] weights = new double[end - start];
        double inverse = 1 / stretch;
        double sum = 0;
        for (int k = 0; k < weights.length; k++) {
            weights[k] = filter.applyAsDouble((k + start - centre + 0.5) * inverse);
            sum += weights[k];
        }
        for (int k = 0; k < weights.length && sum != 0; k++) {
            weights[k] /= sum;
        }
        return weights;
    }

    /** To the nearest integer of {@code bits} fraction bits, halves away from zero. */
    private static int[] rounded(double[] exact, int bits) {
        int[] weights = new int[exact.length];
        for (int k = 0; k < exact.length; k++) {
            double scaled = exact[k] * (1 << bits);
            weights[k] = (int) (scaled < 0 ? scaled - 0.5 : scaled + 0.5);
        }
        return weights;
    }
}

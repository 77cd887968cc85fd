package io.kinema.weights;

/**
 * The regular Hadamard matrix R = H4 (x) H4 (x) ... / sqrt(n) with H4 = [[1,1,1,-1],[1,1,-1,1],[1,-1,1,1],[-1,1,1,1]]: symmetric
 * and orthogonal, so that it is its own inverse, and every row sums to 1. Float64, for files; products use the backend's own.
 */
final class RegularHadamard {
    private RegularHadamard() {
    }

    /** True for the sizes it exists in here: powers of 4, from 4 on. */
    static boolean order(int n) {
        return n >= 4 && Integer.bitCount(n) == 1 && Integer.numberOfTrailingZeros(n) % 2 == 0;
    }

    /** Multiplies every group of {@code order} consecutive values by R, in place. @param values a whole number of groups */
    static void rotate(double[] values, int order) {
        double factor = 1 / Math.sqrt(order);
        for (int group = 0; group < values.length; group += order) {
            for (int step = 1; step < order; step *= 4) {
                stage(values, group, order, step);
            }
            for (int i = group; i < group + order; i++) {
                values[i] *= factor;
            }
        }
    }

    /** One factor H4: on every four values that lie {@code step} apart. */
    private static void stage(double[] values, int group, int order, int step) {
        for (int block = group; block < group + order; block += 4 * step) {
            for (int i = block; i < block + step; i++) {
                double a = values[i];
                double b = values[i + step];
                double c = values[i + 2 * step];
                double d = values[i + 3 * step];
                values[i] = a + b + c - d;
                values[i + step] = a + b - c + d;
                values[i + 2 * step] = a - b + c + d;
                values[i + 3 * step] = -a + b + c + d;
            }
        }
    }
}

package io.kinema.engine;

/** How far values are from others, as tests state limits of it. */
public final class RelativeL2 {
    private RelativeL2() {
    }

    /** {@code |got - expected| / |expected|}, summed in double. */
    public static double of(float[] got, float[] expected) {
        double difference = 0;
        double norm = 0;
        for (int i = 0; i < got.length; i++) {
            difference += Math.pow((double) got[i] - expected[i], 2);
            norm += Math.pow(expected[i], 2);
        }
        return Math.sqrt(difference / norm);
    }
}

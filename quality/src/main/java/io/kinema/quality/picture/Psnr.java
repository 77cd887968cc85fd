package io.kinema.quality.picture;

/**
 * Peak signal-to-noise ratio of 8-bit RGB: {@code 10 log10(255^2 / MSE)} dB, where the mean squared error goes over all pixels and
 * the three channels alike, exactly in integers and divided in float64. Positive infinity when nothing differs.
 *
 * <p>Of several frames the MSE goes over all of them (which FFmpeg's {@code psnr} calls average), not the mean of their dB: one equal
 * frame would make that infinite.
 */
public final class Psnr {
    private static final double PEAK = 255.0 * 255.0;

    private Psnr() {
    }

    /** @param squaredError {@link SquaredError} summed @param values how many values it goes over, {@code frames * width * height * 3} */
    public static double of(long squaredError, long values) {
        if (values < 1 || squaredError < 0) {
            throw new IllegalArgumentException("PSNR: got a squared error of " + squaredError + " over " + values + " values");
        }
        return squaredError == 0 ? Double.POSITIVE_INFINITY : 10 * Math.log10(PEAK * values / squaredError);
    }
}

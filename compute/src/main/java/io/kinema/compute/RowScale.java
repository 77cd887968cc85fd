package io.kinema.compute;

/** The power-of-two row scale of FP16 operands ({@link LinearOps#prepare}). */
public final class RowScale {
    /** Bits of headroom: scaled rows stay below 2^11. */
    private static final int LIMIT = 11;

    private RowScale() {
    }

    /**
     * {@code 2^max(e - 11, 0)} where {@code largest = f * 2^e} with f in [0.5, 1); 1 for a row of zeros.
     * Read from the exponent bits: a logarithm would miss at powers of two. A row with an infinity or NaN has scale 1,
     * so that it stays visible in the product.
     *
     * @param largest the largest magnitude of a row, at least 0
     */
    public static float of(float largest) {
        int biased = Float.floatToRawIntBits(largest) >>> 23;
        if (biased == 0xff) {
            return 1f;
        }
        int e = biased - 126;
        return Float.intBitsToFloat((127 + Math.max(e - LIMIT, 0)) << 23);
    }
}

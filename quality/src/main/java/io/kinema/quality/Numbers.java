package io.kinema.quality;

import java.math.BigDecimal;
import java.math.MathContext;

/** How measured numbers are written for people. */
public final class Numbers {
    private static final MathContext DIGITS = new MathContext(6);

    private Numbers() {
    }

    /** Six significant digits, no needless zeros; {@code inf}, {@code -inf}, {@code nan} for what is no number. */
    public static String plain(double value) {
        if (Double.isNaN(value)) {
            return "nan";
        }
        if (Double.isInfinite(value)) {
            return value > 0 ? "inf" : "-inf";
        }
        if (value == 0) {
            return "0";
        }
        BigDecimal rounded = new BigDecimal(value).round(DIGITS).stripTrailingZeros();
        boolean tiny = Math.abs(value) < 1e-4;
        return tiny || Math.abs(value) >= 1e9 ? String.valueOf(rounded.doubleValue()).replace(".0E", "e").replace("E", "e") : rounded.toPlainString();
    }

    /**
     * As {@link #plain}, but a number that is not exactly 1 is never written as 1, for values whose distance from 1 is what counts.
     */
    public static String nearOne(double value) {
        String text = plain(value);
        return text.equals("1") && value != 1 ? (value < 1 ? "1 - " : "1 + ") + plain(Math.abs(1 - value)) : text;
    }
}

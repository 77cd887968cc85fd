package io.kinema.engine;

/**
 * Width to height, as two positive numbers.
 *
 * @param width  &gt; 0
 * @param height &gt; 0
 */
public record AspectRatio(double width, double height) {
    public AspectRatio {
        if (!(width > 0) || !(height > 0) || Double.isInfinite(width) || Double.isInfinite(height)) {
            throw new BadRequestException("aspectRatio", width + ":" + height, "expected two positive numbers like 16:9");
        }
    }

    /** Reads {@code A:B}. @throws BadRequestException when it is something else */
    public static AspectRatio parse(String text) {
        String[] parts = text.strip().split(":", -1);
        if (parts.length == 2) {
            try {
                return new AspectRatio(Double.parseDouble(parts[0]), Double.parseDouble(parts[1]));
            } catch (NumberFormatException e) {
                // Falls through to the message below, which shows the whole text.
            }
        }
        throw new BadRequestException("aspectRatio", "'" + text + "'", "expected A:B, for example 16:9");
    }

    /** Width over height. */
    public double value() {
        return width / height;
    }

    @Override
    public String toString() {
        return number(width) + ":" + number(height);
    }

    private static String number(double x) {
        return x == Math.rint(x) && x < 1e15 ? Long.toString((long) x) : Double.toString(x);
    }
}

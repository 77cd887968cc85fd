package io.kinema.quality.compare;

/**
 * From when to when something lasts, on its file's clock.
 *
 * @param start   in seconds
 * @param seconds its length; 0 when unknown
 */
public record Span(double start, double seconds) {
    /** When it ends, in seconds. */
    public double end() {
        return start + seconds;
    }
}

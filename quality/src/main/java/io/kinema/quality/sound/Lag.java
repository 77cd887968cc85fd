package io.kinema.quality.sound;

/**
 * By how much a candidate's sound comes later than its reference's.
 *
 * @param seconds     positive when the candidate is late; finer than a sample
 * @param correlation normalised cross-correlation there, -1 to 1: how much the two are alike once shifted
 */
public record Lag(double seconds, double correlation) {
    /** Below this the two sounds are too unlike for the lag to mean anything. */
    public static final double TRUSTED = 0.5;

    /** Whether the sounds are alike enough. */
    public boolean trusted() {
        return correlation >= TRUSTED;
    }
}

package io.kinema.fuzz;

import io.kinema.engine.BadRequestException;
import io.kinema.media.BadMediaException;
import io.kinema.weights.BadWeightsException;
import java.util.regex.Pattern;

/** What a target may answer to a bad input: one of the three exceptions for users, with one printable line. */
public final class Refusals {
    private static final int LONGEST = 5000;
    private static final Pattern UNPRINTABLE = Pattern.compile("[\\p{Cc}\\p{Zl}\\p{Zp}\\u202a-\\u202e\\u2066-\\u2069]");

    private Refusals() {
    }

    /** Runs a reading; a proper refusal is a proper answer. */
    public static void allow(Runnable reading) {
        try {
            reading.run();
        } catch (BadWeightsException | BadMediaException | BadRequestException refusal) {
            requireOneLine(refusal.getMessage(), refusal);
        }
    }

    /** @throws AssertionError when a message for users is not one line that any terminal can show */
    public static void requireOneLine(String message, Throwable from) {
        if (message == null || message.isBlank() || message.length() > LONGEST || UNPRINTABLE.matcher(message).find()) {
            throw new AssertionError("not one printable line: " + message, from);
        }
    }
}

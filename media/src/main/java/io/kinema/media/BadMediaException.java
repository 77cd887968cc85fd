package io.kinema.media;

/**
 * A picture, video or sound file that cannot be used, or an output file that cannot be written.
 *
 * <p>The message is one line that names the file, says what was found and expected, and what to do about it; it is meant to be
 * shown to a user as it stands.
 */
public final class BadMediaException extends RuntimeException {

    private static final long serialVersionUID = 1L;
    private static final int LONGEST = 2000;

    public BadMediaException(String message) {
        super(oneLine(message));
    }

    public BadMediaException(String message, Throwable cause) {
        super(oneLine(message), cause);
    }

    /** File names and what files say of themselves come from outside: no escape sequence must reach a terminal, nor a megabyte a log. */
    private static String oneLine(String message) {
        String shown = message.length() <= LONGEST ? message : message.substring(0, LONGEST) + "...";
        return shown.replaceAll("[\\p{Cc}\\p{Zl}\\p{Zp}\\u202a-\\u202e\\u2066-\\u2069]", "?");
    }
}

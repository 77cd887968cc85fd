package io.kinema.weights;

/**
 * A weight file, index or folder is not what it must be. The message is one line that carries the file, the tensor
 * where there is one, what was found, what was expected and what to do.
 */
public final class BadWeightsException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private static final int LONGEST = 2000;

    public BadWeightsException(String message) {
        super(oneLine(message));
    }

    public BadWeightsException(String message, Throwable cause) {
        super(oneLine(message), cause);
    }

    /** Names come out of untrusted files: control characters and reversed text must not reach a terminal, nor a megabyte a log. */
    private static String oneLine(String message) {
        String shown = message.length() <= LONGEST ? message : message.substring(0, LONGEST) + "...";
        return shown.replaceAll("[\\p{Cc}\\p{Zl}\\p{Zp}\\u202a-\\u202e\\u2066-\\u2069]", "?");
    }
}

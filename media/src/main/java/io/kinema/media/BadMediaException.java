package io.kinema.media;

/**
 * A picture, video or sound file that cannot be used, or an output file that cannot be written.
 *
 * <p>The message is one line that names the file, says what was found and expected, and what to do about it; it is meant to be
 * shown to a user as it stands.
 */
public final class BadMediaException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public BadMediaException(String message) {
        super(message);
    }

    public BadMediaException(String message, Throwable cause) {
        super(message, cause);
    }
}

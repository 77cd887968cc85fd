package io.kinema.serve.fetch;

/** A reference that is not fetched. Its message says what was got and expected, and tells nothing of what lies at the address. */
public final class RefusedUrlException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** Whether it was refused for its size. */
    private final boolean tooLarge;

    RefusedUrlException(String message) {
        this(message, false);
    }

    RefusedUrlException(String message, boolean tooLarge) {
        super(message, null, false, false);
        this.tooLarge = tooLarge;
    }

    public boolean tooLarge() {
        return tooLarge;
    }
}

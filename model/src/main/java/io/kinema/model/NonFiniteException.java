package io.kinema.model;

/** A network produced NaN or an infinity. The message is one line that says in which stage, where, and what to do. */
public final class NonFiniteException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public NonFiniteException(String message) {
        super(message);
    }
}

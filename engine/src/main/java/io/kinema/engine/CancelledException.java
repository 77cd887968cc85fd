package io.kinema.engine;

import java.io.InterruptedIOException;
import java.nio.channels.ClosedByInterruptException;

/**
 * The request's {@link Cancellation} was pulled, or the thread that ran it was interrupted, which it still is then; nothing of the clip was
 * kept. The message says in which stage.
 */
public final class CancelledException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public CancelledException(Stage stage) {
        super("cancelled while " + stage.label());
    }

    private CancelledException(Throwable cause) {
        super("cancelled by an interrupt of its thread", cause);
    }

    /** What a request ends with that met {@code failure}: files close under an interrupted thread, and what fails for that was cancelled. */
    static RuntimeException orElse(RuntimeException failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof ClosedByInterruptException || cause instanceof InterruptedIOException || cause instanceof InterruptedException) {
                return new CancelledException(failure);
            }
        }
        return failure;
    }
}

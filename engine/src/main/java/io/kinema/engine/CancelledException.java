package io.kinema.engine;

/** The request's {@link Cancellation} was pulled; nothing of the clip was kept. The message says in which stage. */
public final class CancelledException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public CancelledException(Stage stage) {
        super("cancelled while " + stage.label());
    }
}

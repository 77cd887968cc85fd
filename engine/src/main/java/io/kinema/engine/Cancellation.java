package io.kinema.engine;

/**
 * Asks a running request to stop; any thread may pull it, once or more. The engine looks between stages, steps, keyframes
 * and tiles, and ends the request with a {@link CancelledException}.
 */
public final class Cancellation {
    private volatile boolean requested;

    /** Asks for the stop. */
    public void cancel() {
        requested = true;
    }

    /** True once {@link #cancel()} was called. */
    public boolean requested() {
        return requested;
    }

    /** @throws CancelledException when the stop was asked for */
    public void check(Stage stage) {
        if (requested) {
            throw new CancelledException(stage);
        }
    }
}

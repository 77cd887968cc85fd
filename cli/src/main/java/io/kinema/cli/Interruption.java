package io.kinema.cli;

import io.kinema.engine.Cancellation;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Lets Ctrl-C or a TERM signal end a request cleanly: the request is asked to stop and given time to remove what it had begun.
 * The JVM then exits with 128 + the signal's number, 130 for Ctrl-C. {@link #close} says that the request has ended.
 */
final class Interruption implements AutoCloseable {
    private static final long GRACE_SECONDS = 10;

    private final Cancellation cancellation = new Cancellation();
    private final CountDownLatch ended = new CountDownLatch(1);
    private final Thread hook = new Thread(this::stop, "kinema-interrupted");

    private Interruption() {
        Runtime.getRuntime().addShutdownHook(hook);
    }

    static Interruption watch() {
        return new Interruption();
    }

    Cancellation cancellation() {
        return cancellation;
    }

    private void stop() {
        cancellation.cancel();
        try {
            boolean inTime = ended.await(GRACE_SECONDS, TimeUnit.SECONDS);
            assert inTime || cancellation.requested();
        } catch (InterruptedException impatient) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        ended.countDown();
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException stopping) {
            // The JVM is already on its way out and runs the hook, which now finds the request ended.
            assert cancellation.requested();
        }
    }
}

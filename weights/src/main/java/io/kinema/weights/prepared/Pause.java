package io.kinema.weights.prepared;

import java.io.IOException;
import java.io.InterruptedIOException;

/** Waiting for another process, of whose end nothing tells. */
final class Pause {
    private Pause() {
    }

    static void millis(long millis) throws IOException {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while another process held prepared weights");
        }
    }
}

package io.kinema.compute;

/** Owns the knowledge of a copy to host memory that was begun, until it is closed; closing twice is harmless and does not wait. */
public interface Arrival extends AutoCloseable {
    /** Of a copy that was done at once. */
    Arrival DONE = new Arrival() {
        @Override
        public void await() {
            // It is there.
        }

        @Override
        public void close() {
            // Nothing is held.
        }
    };

    /** Returns when the bytes are there, whatever was enqueued after them. */
    void await();

    @Override
    void close();
}

package io.kinema.compute;

/**
 * Owns a point in a backend's stream of operations until it is closed; two of them tell how long the device took between them. Closing
 * twice is harmless.
 */
public interface TimeMark extends AutoCloseable {
    /**
     * Seconds on the device from {@code earlier} to here; call it after {@link Backend#finish()}.
     *
     * @param earlier a mark of the same backend
     */
    double secondsSince(TimeMark earlier);

    @Override
    void close();

    /** Now, by the host's clock: the device's own where operations run at once. */
    static TimeMark host() {
        return new HostTimeMark(System.nanoTime());
    }
}

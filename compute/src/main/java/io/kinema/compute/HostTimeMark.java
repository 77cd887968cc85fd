package io.kinema.compute;

/** Owns nothing: a reading of the host's clock. */
record HostTimeMark(long nanos) implements TimeMark {
    @Override
    public double secondsSince(TimeMark earlier) {
        if (earlier instanceof HostTimeMark mark) {
            return (nanos - mark.nanos) / 1e9;
        }
        throw new IllegalArgumentException("time mark: got one of another backend, expected one of the host's clock");
    }

    @Override
    public void close() {
        // A number needs no closing.
    }
}

package io.kinema.compute.collective;

/**
 * What a rank gave to reductions and gathers.
 *
 * @param calls   reductions and gathers
 * @param bytes   of this rank's inputs; what crosses a wire for them is the implementation's own
 * @param seconds wall-clock time of the calls, waiting for slower ranks included; on a device that of enqueueing them
 */
public record Traffic(long calls, long bytes, double seconds) {
    /** Nothing yet. */
    public static final Traffic NONE = new Traffic(0, 0, 0);

    Traffic plus(long moreBytes, double moreSeconds) {
        return new Traffic(calls + 1, bytes + moreBytes, seconds + moreSeconds);
    }

    /** What came after {@code earlier}. */
    public Traffic minus(Traffic earlier) {
        return new Traffic(calls - earlier.calls, bytes - earlier.bytes, seconds - earlier.seconds);
    }
}

package io.kinema.weights.prepared;

/**
 * How much of a disk a cache may take.
 *
 * @param mostBytes of all entries together, above 0
 * @param keepFree  bytes that stay free on the disk, 0 or more
 */
public record CacheLimits(long mostBytes, long keepFree) {
    /** At most 128 GiB, and never the last GiB of the disk. */
    public static final CacheLimits DEFAULTS = new CacheLimits(128L << 30, 1L << 30);

    public CacheLimits {
        if (mostBytes < 1 || keepFree < 0) {
            throw new IllegalArgumentException("cache limits: got " + mostBytes + " bytes and " + keepFree + " kept free, expected above 0 and at least 0");
        }
    }
}

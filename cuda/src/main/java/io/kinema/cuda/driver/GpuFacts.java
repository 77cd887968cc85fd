package io.kinema.cuda.driver;

/**
 * What the driver says about a GPU.
 *
 * @param index           as in {@code cuda:N}
 * @param handle          the driver's handle
 * @param major           compute capability, first number
 * @param minor           compute capability, second number
 * @param processors      multiprocessors
 * @param cacheBytes      of the level 2 cache
 * @param sharedBytes     most shared memory that one block may use
 * @param memoryBytes     of the device
 */
public record GpuFacts(int index, int handle, String name, int major, int minor, int processors, int cacheBytes, int sharedBytes, long memoryBytes) {
    /** Compute capability as one number: 70, 80, 90. */
    public int architecture() {
        return major * 10 + minor;
    }

    @Override
    public String toString() {
        return String.format(java.util.Locale.ROOT, "%s (cuda:%d), compute capability %d.%d, %d multiprocessors, %.1f GiB",
                name, index, major, minor, processors, memoryBytes / (double) (1L << 30));
    }
}

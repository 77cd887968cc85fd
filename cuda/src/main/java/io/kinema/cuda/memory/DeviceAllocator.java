package io.kinema.cuda.memory;

/** Where a pool's memory comes from: the driver, or a fake in tests. */
public interface DeviceAllocator {
    /** The address of {@code bytes} of memory, or 0 when there is not so much left. */
    long allocate(long bytes);

    /** Gives memory back. */
    void free(long address);
}

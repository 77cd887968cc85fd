package io.kinema.cuda.memory;

import io.kinema.cuda.driver.GpuContext;

/** Where a pool's memory comes from: the driver, or a fake in tests. */
public interface DeviceAllocator {
    /** The driver's memory of a context, which must outlive it. */
    static DeviceAllocator of(GpuContext context) {
        return new DeviceAllocator() {
            @Override
            public long allocate(long bytes) {
                return context.allocate(bytes);
            }

            @Override
            public void free(long address) {
                context.free(address);
            }
        };
    }

    /** The address of {@code bytes} of memory, or 0 when there is not so much left. */
    long allocate(long bytes);

    /** Gives memory back. */
    void free(long address);
}

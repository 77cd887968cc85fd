package io.kinema.compute;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Host memory that the system may not move, from which a device copies at its full rate while the host goes on. */
@FunctionalInterface
public interface PageLockedMemory {
    /**
     * @param owner frees it when it is closed, which must be before the backend is
     * @throws RuntimeException when the system locks no more; the message says what to use instead
     */
    MemorySegment allocate(long bytes, Arena owner);
}

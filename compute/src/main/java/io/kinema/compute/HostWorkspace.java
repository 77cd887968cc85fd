package io.kinema.compute;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * Owns off-heap chunks of host memory until it is closed and hands them out as a stack. One thread allocates; any thread
 * may use the tensors.
 */
public final class HostWorkspace extends StackWorkspace {
    private static final long ALIGNMENT = 64;
    private static final long LARGEST_STEP = 64 << 20;
    /** All bits set: NaN in every float type, -1 in every integer type. */
    private static final byte POISON = (byte) 0xff;

    private final boolean poison;
    /** One shared arena for all chunks: closing a shared arena costs a handshake with every thread. */
    private final Arena arena = Arena.ofShared();

    private HostWorkspace(String owner, boolean poison) {
        super(owner, Device.CPU, ALIGNMENT, LARGEST_STEP);
        this.poison = poison;
    }

    /** A workspace for {@code owner}, which is named in messages. */
    public static HostWorkspace create(String owner) {
        return new HostWorkspace(owner, false);
    }

    /** For tests: memory is filled with NaN when it is allocated and again when its frame closes. */
    public static HostWorkspace poisoned(String owner) {
        return new HostWorkspace(owner, true);
    }

    @Override
    protected MemorySegment newChunk(long bytes) {
        return arena.allocate(bytes, ALIGNMENT);
    }

    @Override
    protected void release(List<MemorySegment> all) {
        arena.close();
    }

    @Override
    protected void allocated(MemorySegment data) {
        if (poison) {
            data.fill(POISON);
        }
    }

    @Override
    protected void freed(MemorySegment data) {
        if (poison) {
            data.fill(POISON);
        }
    }
}

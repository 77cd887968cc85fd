package io.kinema.compute;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;

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
    private final LongAdder held;
    private long chunks;
    /** One shared arena for all chunks: closing a shared arena costs a handshake with every thread. */
    private final Arena arena = Arena.ofShared();

    private HostWorkspace(String owner, boolean poison, LongAdder held) {
        super(owner, Device.CPU, ALIGNMENT, LARGEST_STEP);
        this.held = held;
        this.poison = poison;
    }

    /** A workspace for {@code owner}, which is named in messages. */
    public static HostWorkspace create(String owner) {
        return new HostWorkspace(owner, false, new LongAdder());
    }

    /** One whose bytes held from the system are added to {@code held} as long as it is open. */
    public static HostWorkspace counted(String owner, LongAdder held) {
        return new HostWorkspace(owner, false, held);
    }

    /** For tests: memory is filled with NaN when it is allocated and again when its frame closes. */
    public static HostWorkspace poisoned(String owner) {
        return new HostWorkspace(owner, true, new LongAdder());
    }

    @Override
    protected MemorySegment newChunk(long bytes) {
        MemorySegment chunk = arena.allocate(bytes, ALIGNMENT);
        held.add(bytes);
        chunks += bytes;
        return chunk;
    }

    @Override
    protected void release(List<MemorySegment> all) {
        arena.close();
        held.add(-chunks);
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

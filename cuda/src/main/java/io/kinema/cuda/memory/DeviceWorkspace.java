package io.kinema.cuda.memory;

import io.kinema.compute.Device;
import io.kinema.compute.StackWorkspace;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Owns blocks of a device's pool until it is closed and hands them out as a stack. The segments of its tensors bear device
 * addresses: they can be sliced and passed to kernels, never read here. Freed memory may be handed out again at once,
 * because everything on a device runs in the order of one
 * stream; whoever writes from another stream is told of every block that comes from the pool, to wait for that order.
 */
public final class DeviceWorkspace extends StackWorkspace {
    private static final long ALIGNMENT = 256;

    private final DevicePool pool;
    private final Runnable taken;
    private final Map<Long, DevicePool.Block> blocks = new HashMap<>();

    public DeviceWorkspace(String owner, Device device, DevicePool pool) {
        this(owner, device, pool, () -> { });
    }

    /** @param taken called after a block was taken from the pool, before it is used */
    public DeviceWorkspace(String owner, Device device, DevicePool pool, Runnable taken) {
        super(owner, device, ALIGNMENT, DevicePool.GRAIN);
        this.pool = pool;
        this.taken = taken;
    }

    @Override
    protected MemorySegment newChunk(long bytes) {
        DevicePool.Block block = pool.take(bytes, owner());
        blocks.put(block.address(), block);
        taken.run();
        return MemorySegment.ofAddress(block.address()).reinterpret(block.bytes());
    }

    @Override
    protected void release(List<MemorySegment> all) {
        all.forEach(chunk -> pool.give(blocks.get(chunk.address())));
    }
}

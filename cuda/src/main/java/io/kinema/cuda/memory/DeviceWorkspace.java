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
 * because everything on a device runs in the order of one stream.
 */
public final class DeviceWorkspace extends StackWorkspace {
    private static final long ALIGNMENT = 256;

    private final DevicePool pool;
    private final Map<Long, DevicePool.Block> blocks = new HashMap<>();

    public DeviceWorkspace(String owner, Device device, DevicePool pool) {
        super(owner, device, ALIGNMENT, DevicePool.GRAIN);
        this.pool = pool;
    }

    @Override
    protected MemorySegment newChunk(long bytes) {
        DevicePool.Block block = pool.take(bytes, owner());
        blocks.put(block.address(), block);
        return MemorySegment.ofAddress(block.address()).reinterpret(block.bytes());
    }

    @Override
    protected void release(List<MemorySegment> all) {
        all.forEach(chunk -> pool.give(blocks.get(chunk.address())));
    }
}

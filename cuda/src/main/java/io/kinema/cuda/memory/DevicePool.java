package io.kinema.cuda.memory;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Owns one device's memory blocks until it is closed, and counts every byte: what each owner holds, what lies free for
 * reuse, and the most ever held. Blocks are whole allocations, rounded up to {@link #GRAIN}; a freed block serves the next
 * request that it fits without wasting more than a quarter. Closing twice is harmless. Any thread
 * may use it: weights are brought by a thread of their own, and ranks
 * give blocks back that they were the last to read.
 */
public final class DevicePool implements AutoCloseable {
    /** Allocations are multiples of this many bytes. */
    public static final long GRAIN = 2 << 20;

    private final String device;
    private final DeviceAllocator allocator;
    private final long limit;
    private final TreeMap<Long, Deque<Long>> free = new TreeMap<>();
    private final Map<String, Long> held = new HashMap<>();
    private long used;
    private long cached;
    private long peakHeld;
    private long allocations;
    private boolean closed;

    /**
     * @param device named in messages
     * @param limit  most bytes to hold from the device, in use and free for reuse
     */
    public DevicePool(String device, DeviceAllocator allocator, long limit) {
        this.device = device;
        this.allocator = allocator;
        this.limit = limit;
    }

    /**
     * One allocation.
     *
     * @param bytes its whole size
     */
    public record Block(long address, long bytes, String owner) {
    }

    /** @throws DeviceMemoryException when the device or the limit has not so much left */
    public synchronized Block take(long bytes, String owner) {
        if (closed) {
            throw new IllegalStateException("memory of " + device + " is closed");
        }
        long size = Math.max(GRAIN, Math.addExact(bytes, GRAIN - 1) / GRAIN * GRAIN);
        Map.Entry<Long, Deque<Long>> fit = free.ceilingEntry(size);
        if (fit != null && fit.getKey() - size <= size / 4) {
            return reuse(fit.getKey(), owner);
        }
        return count(new Block(fresh(size, owner), size, owner));
    }

    private Block reuse(long size, String owner) {
        Deque<Long> blocks = free.get(size);
        long address = blocks.pop();
        if (blocks.isEmpty()) {
            free.remove(size);
        }
        cached -= size;
        return count(new Block(address, size, owner));
    }

    private Block count(Block block) {
        used += block.bytes();
        held.merge(block.owner(), block.bytes(), Long::sum);
        peakHeld = Math.max(peakHeld, used + cached);
        return block;
    }

    private long fresh(long size, String owner) {
        if (used + cached + size > limit) {
            trim();
        }
        if (used + size > limit) {
            throw full(size, owner, "the limit of " + limit + " bytes");
        }
        long address = allocator.allocate(size);
        if (address == 0) {
            trim();
            address = allocator.allocate(size);
        }
        if (address == 0) {
            throw full(size, owner, "what the device has left");
        }
        allocations++;
        return address;
    }

    private DeviceMemoryException full(long size, String owner, String bound) {
        return new DeviceMemoryException(device + " memory: " + owner + " asks for " + size + " bytes, which passes " + bound + "; in use "
                + used + " bytes (" + held.entrySet().stream().sorted(Map.Entry.<String, Long>comparingByValue().reversed()).limit(4)
                .map(e -> e.getKey() + " " + e.getValue()).collect(Collectors.joining(", "))
                + "); ask for a smaller clip, or keep fewer weights on the device");
    }

    /** Takes a block back for reuse. */
    public synchronized void give(Block block) {
        if (closed) {
            return;
        }
        used -= block.bytes();
        held.computeIfPresent(block.owner(), (owner, bytes) -> bytes == block.bytes() ? null : bytes - block.bytes());
        free.computeIfAbsent(block.bytes(), size -> new ArrayDeque<>()).push(block.address());
        cached += block.bytes();
    }

    /** Gives everything that lies free back to the device. */
    public synchronized void trim() {
        free.values().forEach(blocks -> blocks.forEach(allocator::free));
        free.clear();
        cached = 0;
    }

    /** Bytes in use. */
    public synchronized long usedBytes() {
        return used;
    }

    /** Bytes free for reuse. */
    public synchronized long cachedBytes() {
        return cached;
    }

    /** The most bytes ever held from the device at once, in use and free for reuse. */
    public synchronized long peakBytes() {
        return peakHeld;
    }

    /** How often the device was asked for memory. */
    public synchronized long allocations() {
        return allocations;
    }

    /** Bytes in use by owner. */
    public synchronized Map<String, Long> held() {
        return Map.copyOf(held);
    }

    /** Frees what lies free; blocks in use belong to workspaces, which must be closed before. */
    @Override
    public synchronized void close() {
        if (!closed) {
            trim();
            closed = true;
        }
    }
}

package io.kinema.compute;

import io.kinema.weights.DType;
import io.kinema.weights.Shape;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * Owns off-heap chunks of host memory until it is closed and hands them out as a stack. Chunks grow as needed and are
 * reused: a second request of the same size allocates nothing. One thread allocates; any thread may use the tensors.
 */
public final class HostWorkspace implements Workspace {
    private static final long ALIGNMENT = 64;
    private static final long SMALLEST_CHUNK = 1 << 20;
    private static final long LARGEST_STEP = 64 << 20;
    /** All bits set: NaN in every float type, -1 in every integer type. */
    private static final byte POISON = (byte) 0xff;

    private final String owner;
    private final boolean poison;
    /** One shared arena for all chunks: closing a shared arena costs a handshake with every thread. */
    private final Arena arena = Arena.ofShared();
    private final List<MemorySegment> chunks = new ArrayList<>();
    /** Index of the chunk that allocations come from, and the first free byte in it. */
    private int chunk;
    private long top;
    private long bytes;
    private long peak;
    private StackFrame innermost;
    private boolean closed;

    private HostWorkspace(String owner, boolean poison) {
        this.owner = owner;
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
    public Tensor allocate(DType dtype, long... dims) {
        requireOpen();
        Shape shape = Shape.of(dims);
        long size = Math.multiplyExact(shape.elements(), (long) dtype.bytes());
        long padded = Math.max(ALIGNMENT, Math.addExact(size, ALIGNMENT - 1) & -ALIGNMENT);
        MemorySegment data = take(padded);
        bytes += padded;
        peak = Math.max(peak, bytes);
        if (poison) {
            data.fill(POISON);
        }
        return Tensor.of(dtype, shape, data, Device.CPU);
    }

    private MemorySegment take(long padded) {
        if (chunks.isEmpty() || top + padded > chunks.get(chunk).byteSize()) {
            moveToChunkOf(padded);
        }
        MemorySegment data = chunks.get(chunk).asSlice(top, padded);
        top += padded;
        return data;
    }

    /** Makes the next chunk one that holds {@code padded} bytes: a free one if there is one, else a new one. */
    private void moveToChunkOf(long padded) {
        int next = chunks.isEmpty() ? 0 : chunk + (top == 0 ? 0 : 1);
        int found = next;
        while (found < chunks.size() && chunks.get(found).byteSize() < padded) {
            found++;
        }
        if (found < chunks.size()) {
            chunks.add(next, chunks.remove(found));
        } else {
            long step = Math.clamp(reservedBytes(), SMALLEST_CHUNK, LARGEST_STEP);
            chunks.add(next, arena.allocate(Math.max(padded, step), ALIGNMENT));
        }
        chunk = next;
        top = 0;
    }

    @Override
    public Frame frame() {
        requireOpen();
        innermost = new StackFrame(innermost, chunk, top, bytes);
        return innermost;
    }

    @Override
    public long bytes() {
        return bytes;
    }

    @Override
    public long peakBytes() {
        return peak;
    }

    /** Bytes held from the operating system, in use or free for reuse. */
    public long reservedBytes() {
        long sum = 0;
        for (MemorySegment c : chunks) {
            sum += c.byteSize();
        }
        return sum;
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            bytes = 0;
            chunks.clear();
            arena.close();
        }
    }

    private void requireOpen() {
        if (closed) {
            throw new IllegalStateException("workspace of " + owner + " is closed");
        }
    }

    @Override
    public String toString() {
        return "workspace of " + owner + ": " + bytes + " bytes in use, " + peak + " at peak, " + reservedBytes() + " reserved";
    }

    private final class StackFrame implements Frame {
        private final StackFrame outer;
        private final int chunkBefore;
        private final long topBefore;
        private final long bytesBefore;
        private boolean released;

        StackFrame(StackFrame outer, int chunkBefore, long topBefore, long bytesBefore) {
            this.outer = outer;
            this.chunkBefore = chunkBefore;
            this.topBefore = topBefore;
            this.bytesBefore = bytesBefore;
        }

        @Override
        public void close() {
            if (released || closed) {
                return;
            }
            if (innermost != this) {
                throw new IllegalStateException("workspace of " + owner + ": frames must be closed in reverse order of opening");
            }
            released = true;
            innermost = outer;
            if (poison) {
                poisonFreed();
            }
            chunk = chunkBefore;
            top = topBefore;
            bytes = bytesBefore;
        }

        private void poisonFreed() {
            for (int i = chunkBefore; i <= chunk && i < chunks.size(); i++) {
                long from = i == chunkBefore ? topBefore : 0;
                long to = i == chunk ? top : chunks.get(i).byteSize();
                chunks.get(i).asSlice(from, to - from).fill(POISON);
            }
        }
    }
}

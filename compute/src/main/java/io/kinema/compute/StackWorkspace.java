package io.kinema.compute;

import io.kinema.weights.DType;
import io.kinema.weights.Shape;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * Owns chunks of one device's memory until it is closed and hands them out as a stack. Chunks grow as needed and are
 * reused: a second request of the same size allocates nothing. Where chunks come from is the subclass's business.
 */
public abstract class StackWorkspace implements Workspace {
    private static final long SMALLEST_CHUNK = 1 << 20;

    private final String owner;
    private final Device device;
    private final long alignment;
    private final long largestStep;
    private final List<MemorySegment> chunks = new ArrayList<>();
    /** Index of the chunk that allocations come from, and the first free byte in it. */
    private int chunk;
    private long top;
    private long bytes;
    private long peak;
    private StackFrame innermost;
    private boolean closed;

    /**
     * @param owner       named in messages
     * @param alignment   of every tensor in bytes, a power of two, at least 64
     * @param largestStep chunks grow up to this many bytes; what asks for more gets a chunk of its own size
     */
    protected StackWorkspace(String owner, Device device, long alignment, long largestStep) {
        this.owner = owner;
        this.device = device;
        this.alignment = alignment;
        this.largestStep = largestStep;
    }

    /** A new chunk of at least {@code bytes}, aligned. */
    protected abstract MemorySegment newChunk(long bytes);

    /** Gives all chunks back; called once. */
    protected abstract void release(List<MemorySegment> all);

    /** Memory that was just handed out. */
    protected void allocated(MemorySegment data) {
    }

    /** Memory whose frame closed. */
    protected void freed(MemorySegment data) {
    }

    /** Who uses this memory. */
    protected final String owner() {
        return owner;
    }

    @Override
    public final Tensor allocate(DType dtype, long... dims) {
        requireOpen();
        Shape shape = Shape.of(dims);
        long size = Math.multiplyExact(shape.elements(), (long) dtype.bytes());
        long padded = Math.max(alignment, Math.addExact(size, alignment - 1) & -alignment);
        MemorySegment data = take(padded);
        bytes += padded;
        peak = Math.max(peak, bytes);
        allocated(data);
        return Tensor.of(dtype, shape, data, device);
    }

    private MemorySegment take(long padded) {
        if (chunks.isEmpty() || top + padded > chunks.get(chunk).byteSize()) {
            moveToChunkOf(padded);
        }
        MemorySegment data = chunks.get(chunk).asSlice(top, padded);
        top += padded;
        return data;
    }

    /** Makes the next chunk the smallest free one that holds {@code padded} bytes if there is one, else a new one. */
    private void moveToChunkOf(long padded) {
        int next = chunks.isEmpty() ? 0 : chunk + (top == 0 ? 0 : 1);
        int best = chunks.size();
        for (int i = next; i < chunks.size(); i++) {
            long size = chunks.get(i).byteSize();
            if (size >= padded && (best == chunks.size() || size < chunks.get(best).byteSize())) {
                best = i;
            }
        }
        if (best < chunks.size()) {
            chunks.add(next, chunks.remove(best));
        } else {
            long step = Math.clamp(reservedBytes(), SMALLEST_CHUNK, largestStep);
            chunks.add(next, newChunk(Math.max(padded, step)));
        }
        chunk = next;
        top = 0;
    }

    @Override
    public final Frame frame() {
        requireOpen();
        innermost = new StackFrame(innermost, chunk, top, bytes);
        return innermost;
    }

    @Override
    public final long bytes() {
        return bytes;
    }

    @Override
    public final long peakBytes() {
        return peak;
    }

    /** Bytes held from the system, in use or free for reuse. */
    public final long reservedBytes() {
        long sum = 0;
        for (MemorySegment c : chunks) {
            sum += c.byteSize();
        }
        return sum;
    }

    @Override
    public final void close() {
        if (!closed) {
            closed = true;
            bytes = 0;
            List<MemorySegment> all = List.copyOf(chunks);
            chunks.clear();
            release(all);
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
            tellFreed();
            chunk = chunkBefore;
            top = topBefore;
            bytes = bytesBefore;
        }

        private void tellFreed() {
            for (int i = chunkBefore; i <= chunk && i < chunks.size(); i++) {
                long from = i == chunkBefore ? topBefore : 0;
                long to = i == chunk ? top : chunks.get(i).byteSize();
                freed(chunks.get(i).asSlice(from, to - from));
            }
        }
    }
}

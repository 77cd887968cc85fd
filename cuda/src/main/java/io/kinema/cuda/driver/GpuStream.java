package io.kinema.cuda.driver;

import java.lang.foreign.MemorySegment;
import java.util.Optional;

/** Owns one stream until it is closed; closing twice is harmless. Used by one thread, the rank's. */
public final class GpuStream implements AutoCloseable {
    private static final int NON_BLOCKING = 1;
    private static final int CAPTURE_THREAD_LOCAL = 1;

    private final GpuContext context;
    private final MemorySegment handle;
    private boolean capturing;
    private boolean closed;

    public GpuStream(GpuContext context) {
        this.context = context;
        this.handle = context.pointer("cuStreamCreate", out -> (int) context.symbols().streamCreate().invokeExact(out, NON_BLOCKING));
    }

    /** The native stream, for libraries. */
    public MemorySegment handle() {
        return handle;
    }

    /**
     * Enqueues a copy from host memory. From pageable or mapped memory the call returns when the source may change; from
     * page-locked memory the source must stay as it is until the copy has run.
     */
    public void upload(MemorySegment from, long to, long bytes) {
        refuseInCapture();
        context.check("cuMemcpyHtoDAsync", () -> (int) context.symbols().memcpyHtoD().invokeExact(to, from, bytes, handle));
    }

    /** Enqueues a copy to host memory, whole when the stream has finished. */
    public void download(long from, MemorySegment to, long bytes) {
        refuseInCapture();
        context.check("cuMemcpyDtoHAsync", () -> (int) context.symbols().memcpyDtoH().invokeExact(to, from, bytes, handle));
    }

    public void copy(long from, long to, long bytes) {
        context.check("cuMemcpyDtoDAsync", () -> (int) context.symbols().memcpyDtoD().invokeExact(to, from, bytes, handle));
    }

    /** Every byte becomes {@code value}. */
    public void fill(long to, byte value, long bytes) {
        context.check("cuMemsetD8Async", () -> (int) context.symbols().memsetD8().invokeExact(to, (int) value, bytes, handle));
    }

    /** What is enqueued from now on runs after {@code event}, which may be of another stream or GPU and closed at once. */
    public void waitFor(GpuEvent event) {
        context.check("cuStreamWaitEvent", () -> (int) context.symbols().streamWaitEvent().invokeExact(handle, event.handle(), 0));
    }

    /** Waits until everything enqueued has finished. */
    public void synchronize() {
        refuseInCapture();
        context.check("cuStreamSynchronize", () -> (int) context.symbols().streamSynchronize().invokeExact(handle));
    }

    /**
     * Captures what {@code work} enqueues, without running it, as a graph that the caller owns; empty when it needs the host on the
     * way, for a copy or a wait: a replay would not go there again.
     */
    public Optional<GpuGraph> capture(Runnable work) {
        context.check("cuStreamBeginCapture", () -> (int) context.symbols().streamBeginCapture().invokeExact(handle, CAPTURE_THREAD_LOCAL));
        capturing = true;
        try {
            work.run();
        } catch (NeedsHost e) {
            abandonCapture();
            return Optional.empty();
        } catch (RuntimeException | Error e) {
            abandonCapture();
            throw e;
        } finally {
            capturing = false;
        }
        MemorySegment graph = context.pointer("cuStreamEndCapture", out -> (int) context.symbols().streamEndCapture().invokeExact(handle, out));
        return Optional.of(GpuGraph.instantiate(context, graph));
    }

    private void refuseInCapture() {
        if (capturing) {
            throw new NeedsHost();
        }
    }

    /** Ends a capture that cannot be replayed. */
    private static final class NeedsHost extends RuntimeException {
        private static final long serialVersionUID = 1L;

        NeedsHost() {
            super("work needs the host while it is captured", null, false, false);
        }
    }

    private void abandonCapture() {
        try {
            MemorySegment graph = context.pointer("cuStreamEndCapture", out -> (int) context.symbols().streamEndCapture().invokeExact(handle, out));
            if (graph.address() != 0) {
                context.check("cuGraphDestroy", () -> (int) context.symbols().graphDestroy().invokeExact(graph));
            }
        } catch (RuntimeException alreadyInvalid) {
            // The work's own failure says more than that its capture broke off.
        }
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            context.check("cuStreamDestroy", () -> (int) context.symbols().streamDestroy().invokeExact(handle));
        }
    }
}

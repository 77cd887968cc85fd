package io.kinema.cuda.driver;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Owns one event, a mark in a stream, until it is closed; closing twice is harmless. */
public final class GpuEvent implements AutoCloseable {
    private static final int DISABLE_TIMING = 2;

    private final GpuContext context;
    private final MemorySegment handle;
    private boolean closed;

    /** An event that tells times. */
    public GpuEvent(GpuContext context) {
        this(context, 0);
    }

    private GpuEvent(GpuContext context, int flags) {
        this.context = context;
        this.handle = context.pointer("cuEventCreate", out -> (int) context.symbols().eventCreate().invokeExact(out, flags));
    }

    /** An event for streams to wait for; it tells no times, which makes waiting cheaper. */
    public static GpuEvent untimed(GpuContext context) {
        return new GpuEvent(context, DISABLE_TIMING);
    }

    /** Marks the end of what is enqueued on {@code stream} now. */
    public void record(GpuStream stream) {
        context.check("cuEventRecord", () -> (int) context.symbols().eventRecord().invokeExact(handle, stream.handle()));
    }

    /** Waits until the mark is reached. */
    public void await() {
        context.check("cuEventSynchronize", () -> (int) context.symbols().eventSynchronize().invokeExact(handle));
    }

    /** The native event, for streams. */
    MemorySegment handle() {
        return handle;
    }

    /** Seconds on the device from {@code start}'s mark to this one; both must be reached. */
    public double secondsSince(GpuEvent start) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ValueLayout.JAVA_FLOAT);
            context.check("cuEventElapsedTime", () -> (int) context.symbols().eventElapsedTime().invokeExact(out, start.handle, handle));
            return out.get(ValueLayout.JAVA_FLOAT, 0) / 1e3;
        }
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            context.check("cuEventDestroy", () -> (int) context.symbols().eventDestroy().invokeExact(handle));
        }
    }
}

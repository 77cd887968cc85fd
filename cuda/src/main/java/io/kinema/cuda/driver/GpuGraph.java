package io.kinema.cuda.driver;

import java.lang.foreign.MemorySegment;

/** Owns an executable graph of captured work until it is closed; closing twice is harmless. */
public final class GpuGraph implements AutoCloseable {
    private final GpuContext context;
    private final MemorySegment executable;
    private boolean closed;

    private GpuGraph(GpuContext context, MemorySegment executable) {
        this.context = context;
        this.executable = executable;
    }

    static GpuGraph instantiate(GpuContext context, MemorySegment graph) {
        try {
            return new GpuGraph(context, context.pointer("cuGraphInstantiate",
                    out -> (int) context.symbols().graphInstantiate().invokeExact(out, graph, 0L)));
        } finally {
            context.check("cuGraphDestroy", () -> (int) context.symbols().graphDestroy().invokeExact(graph));
        }
    }

    /** Enqueues all captured work. */
    public void launch(GpuStream stream) {
        context.check("cuGraphLaunch", () -> (int) context.symbols().graphLaunch().invokeExact(executable, stream.handle()));
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            context.check("cuGraphExecDestroy", () -> (int) context.symbols().graphExecDestroy().invokeExact(executable));
        }
    }
}

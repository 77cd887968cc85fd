package io.kinema.cuda.driver;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.Map;

/** Owns a loaded module of kernels until it is closed; closing twice is harmless. */
public final class GpuModule implements AutoCloseable {
    private final GpuContext context;
    private final MemorySegment handle;
    private final String name;
    private final Map<String, GpuFunction> functions = new HashMap<>();
    private boolean closed;

    /**
     * Loads a cubin, fat binary or PTX; the driver compiles PTX here, and nowhere else.
     *
     * @param name  in messages
     * @param image the whole file; PTX must end with a zero byte
     */
    public GpuModule(GpuContext context, String name, byte[] image) {
        this.context = context;
        this.name = name;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocate(image.length + 1L, 16);
            MemorySegment.copy(image, 0, bytes, ValueLayout.JAVA_BYTE, 0, image.length);
            this.handle = context.pointer("cuModuleLoadData of " + name,
                    out -> (int) context.symbols().moduleLoadData().invokeExact(out, bytes, 0, MemorySegment.NULL, MemorySegment.NULL));
        }
    }

    /** The kernel with this name. */
    public GpuFunction function(String function) {
        return functions.computeIfAbsent(function, f -> {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment symbol = arena.allocateFrom(f);
                return new GpuFunction(context, f, context.pointer("cuModuleGetFunction " + f + " of " + name,
                        out -> (int) context.symbols().moduleGetFunction().invokeExact(out, handle, symbol)));
            }
        });
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            context.check("cuModuleUnload", () -> (int) context.symbols().moduleUnload().invokeExact(handle));
        }
    }
}

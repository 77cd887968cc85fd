package io.kinema.cuda.driver;

import io.kinema.cuda.ffi.CudaException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Optional;

/** Owns a loaded module of kernels until it is closed; closing twice is harmless. */
public final class GpuModule implements AutoCloseable {
    private static final int NOT_FOUND = 500;

    private final GpuContext context;
    private final MemorySegment handle;
    private final String name;
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

    /** The kernel with this name, or empty when the module has none. */
    public Optional<GpuFunction> function(String function) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment symbol = arena.allocateFrom(function);
            return Optional.of(new GpuFunction(context, function, context.pointer("cuModuleGetFunction " + function + " of " + name,
                    out -> (int) context.symbols().moduleGetFunction().invokeExact(out, handle, symbol))));
        } catch (CudaException e) {
            if (e.code() == NOT_FOUND) {
                return Optional.empty();
            }
            throw e;
        }
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            context.check("cuModuleUnload", () -> (int) context.symbols().moduleUnload().invokeExact(handle));
        }
    }
}

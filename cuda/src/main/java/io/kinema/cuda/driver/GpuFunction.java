package io.kinema.cuda.driver;

import java.lang.foreign.MemorySegment;

/** A kernel of a loaded module; lives as long as the module. */
public final class GpuFunction {
    private static final int MAX_DYNAMIC_SHARED = 8;
    private static final int DEFAULT_SHARED = 48 << 10;

    private final GpuContext context;
    private final String name;
    private final MemorySegment handle;
    private int dynamicShared = DEFAULT_SHARED;

    GpuFunction(GpuContext context, String name, MemorySegment handle) {
        this.context = context;
        this.name = name;
        this.handle = handle;
    }

    public String name() {
        return name;
    }

    /**
     * Enqueues the kernel.
     *
     * @param sharedBytes dynamic shared memory of a block
     * @param arguments   array of pointers to the arguments, in host memory
     */
    public void launch(GpuStream stream, Grid grid, int sharedBytes, MemorySegment arguments) {
        if (sharedBytes > dynamicShared) {
            context.check("cuFuncSetAttribute of " + name,
                    () -> (int) context.symbols().funcSetAttribute().invokeExact(handle, MAX_DYNAMIC_SHARED, sharedBytes));
            dynamicShared = sharedBytes;
        }
        context.check(name, () -> (int) context.symbols().launchKernel().invokeExact(handle, grid.x(), grid.y(), grid.z(),
                grid.threadsX(), grid.threadsY(), 1, sharedBytes, stream.handle(), arguments, MemorySegment.NULL));
    }

    /** Blocks of a launch and threads of a block. */
    public record Grid(int x, int y, int z, int threadsX, int threadsY) {
        /** One axis of blocks. */
        public static Grid of(long blocks, int threads) {
            return new Grid(Math.toIntExact(blocks), 1, 1, threads, 1);
        }

        public static Grid of(long x, long y, long z, int threads) {
            return new Grid(Math.toIntExact(x), Math.toIntExact(y), Math.toIntExact(z), threads, 1);
        }
    }
}

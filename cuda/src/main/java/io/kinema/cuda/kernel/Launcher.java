package io.kinema.cuda.kernel;

import io.kinema.cuda.driver.GpuFunction;
import io.kinema.cuda.driver.GpuFunction.Grid;
import io.kinema.cuda.driver.GpuStream;

/**
 * Enqueues kernels on one stream. Owns the argument memory until it is closed; closing twice is harmless. Used by one thread.
 */
public final class Launcher implements AutoCloseable {
    private final KernelModules modules;
    private final GpuStream stream;
    private final Arguments arguments = new Arguments();

    public Launcher(KernelModules modules, GpuStream stream) {
        this.modules = modules;
        this.stream = stream;
    }

    /** The argument memory, empty; fill it, then {@link #launch}. */
    public Arguments arguments() {
        return arguments.clear();
    }

    public void launch(String kernel, Grid grid) {
        launch(kernel, grid, 0);
    }

    /** @param shared dynamic shared memory of a block in bytes */
    public void launch(String kernel, Grid grid, int shared) {
        GpuFunction function = modules.function(kernel);
        function.launch(stream, grid, shared, arguments.pointers());
    }

    public GpuStream stream() {
        return stream;
    }

    @Override
    public void close() {
        arguments.close();
    }
}

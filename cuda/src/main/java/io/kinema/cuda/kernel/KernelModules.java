package io.kinema.cuda.kernel;

import io.kinema.cuda.driver.GpuContext;
import io.kinema.cuda.driver.GpuFunction;
import io.kinema.cuda.driver.GpuModule;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Owns the loaded kernel modules of one architecture until it is closed; closing twice is harmless. All of them are loaded
 * when it is made, so that no request waits for the driver's compiler, and the number of compilations is known.
 */
public final class KernelModules implements AutoCloseable {
    private final int architecture;
    private final List<GpuModule> modules = new ArrayList<>();
    private final Map<String, GpuFunction> functions = new HashMap<>();
    private int compiled;

    private KernelModules(int architecture) {
        this.architecture = architecture;
    }

    /** Loads the images of {@code architecture}. */
    public static KernelModules load(GpuContext context, KernelManifest manifest, int architecture) {
        KernelModules loaded = new KernelModules(architecture);
        try {
            for (KernelManifest.Image image : manifest.forArchitecture(architecture)) {
                loaded.add(context, image);
            }
        } catch (RuntimeException e) {
            loaded.close();
            throw e;
        }
        return loaded;
    }

    private void add(GpuContext context, KernelManifest.Image image) {
        GpuModule module = new GpuModule(context, image.file(), image.bytes());
        modules.add(module);
        compiled += image.ptx() ? 1 : 0;
        image.kernels().forEach(kernel -> functions.put(kernel, module.function(kernel)));
    }

    /** @throws IllegalArgumentException when this architecture's images have no such kernel */
    public GpuFunction function(String name) {
        GpuFunction function = functions.get(name);
        if (function == null) {
            throw new IllegalArgumentException("kernel " + name + ": not among the images for compute capability " + architecture / 10 + "." + architecture % 10);
        }
        return function;
    }

    /** The compute capability that the images were built for. */
    public int architecture() {
        return architecture;
    }

    /** Modules that the driver compiled from PTX when they were loaded. */
    public int compiledByDriver() {
        return compiled;
    }

    /** Names of all kernels. */
    public List<String> names() {
        return functions.keySet().stream().sorted().toList();
    }

    @Override
    public void close() {
        modules.forEach(GpuModule::close);
        modules.clear();
        functions.clear();
    }
}

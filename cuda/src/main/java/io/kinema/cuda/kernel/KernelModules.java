package io.kinema.cuda.kernel;

import io.kinema.cuda.driver.GpuContext;
import io.kinema.cuda.driver.GpuFunction;
import io.kinema.cuda.driver.GpuModule;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Owns the loaded kernel modules for one GPU until it is closed; closing twice is harmless. All of them are loaded when it is
 * made, so that no request waits for the driver's compiler, and the number of compilations is known.
 * Launchers of several threads may look kernels up.
 */
public final class KernelModules implements AutoCloseable {
    private final KernelManifest.Choice choice;
    private final List<GpuModule> modules = new ArrayList<>();
    private final Map<String, GpuFunction> functions = new ConcurrentHashMap<>();
    private long compilations;

    private KernelModules(KernelManifest.Choice choice) {
        this.choice = choice;
    }

    /** Loads the images of {@code choice}. */
    public static KernelModules load(GpuContext context, KernelManifest manifest, KernelManifest.Choice choice) {
        KernelModules loaded = new KernelModules(choice);
        try {
            for (KernelManifest.Image image : manifest.of(choice)) {
                loaded.modules.add(new GpuModule(context, image.file(), image.bytes()));
                loaded.compilations += image.ptx() ? 1 : 0;
            }
        } catch (RuntimeException e) {
            loaded.close();
            throw e;
        }
        return loaded;
    }

    /** @throws IllegalArgumentException when these images have no such kernel */
    public GpuFunction function(String name) {
        GpuFunction known = functions.get(name);
        if (known != null) {
            return known;
        }
        GpuFunction found = modules.stream().map(m -> m.function(name)).flatMap(Optional::stream).findFirst()
                .orElseThrow(() -> new IllegalArgumentException("kernel " + name + ": not among the images " + choice));
        functions.put(name, found);
        return found;
    }

    /** What was loaded. */
    public KernelManifest.Choice choice() {
        return choice;
    }

    /** Modules that the driver compiled from PTX so far: when they were loaded, and never later. */
    public long compilations() {
        return compilations;
    }

    @Override
    public void close() {
        modules.forEach(GpuModule::close);
        modules.clear();
        functions.clear();
    }
}

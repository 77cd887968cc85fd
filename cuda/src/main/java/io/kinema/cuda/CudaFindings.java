package io.kinema.cuda;

import io.kinema.compute.BackendProvider.Finding;
import io.kinema.cuda.driver.CudaDriver;
import io.kinema.cuda.driver.GpuFacts;
import io.kinema.cuda.ffi.CudaLibrary;
import io.kinema.cuda.ffi.CudaUnavailableException;
import io.kinema.cuda.ffi.LibraryFinder;
import io.kinema.cuda.kernel.KernelManifest;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What there is of CUDA on this machine. Nothing of it is required, so nothing here is a fault unless a GPU is there. */
final class CudaFindings {
    private CudaFindings() {
    }

    static List<Finding> look() {
        LibraryFinder finder = LibraryFinder.ofEnvironment();
        List<Finding> all = new ArrayList<>();
        boolean gpu = gpus(finder, all);
        for (CudaLibrary library : CudaLibrary.values()) {
            all.add(library(finder.find(library), gpu));
        }
        all.add(new Finding("searched", String.join(", ", finder.searched()), Optional.empty()));
        return all;
    }

    private static boolean gpus(LibraryFinder finder, List<Finding> all) {
        try {
            CudaDriver driver = CudaDriver.load(finder);
            List<GpuFacts> gpus = driver.devices();
            for (GpuFacts gpu : gpus) {
                String images = KernelManifest.serves(gpu.architecture()) ? "kernels " + KernelManifest.choose(gpu.architecture(), gpu.architecture())
                        : "no kernels in this build";
                all.add(new Finding("cuda:" + gpu.index(), gpu + ", driver for CUDA " + driver.version() + ", " + images, Optional.empty()));
            }
            return !gpus.isEmpty();
        } catch (CudaUnavailableException | LinkageError e) {
            all.add(new Finding("cuda", "none: " + e.getMessage(), Optional.empty()));
            return false;
        }
    }

    private static Finding library(LibraryFinder.Found found, boolean gpu) {
        String failed = found.failed().isEmpty() ? "" : "; did not load: " + String.join(", ", found.failed());
        boolean wanted = gpu && found.symbols().isEmpty() && found.library() == CudaLibrary.CUBLASLT;
        return new Finding(found.library().title(), (found.symbols().isPresent() ? found.file() + ", " + found.why() : "not found") + failed,
                wanted ? Optional.of(found.library().advice()) : Optional.empty());
    }
}

package io.kinema.cuda;

import io.kinema.compute.Device;
import io.kinema.compute.Fallback;
import io.kinema.compute.check.CheckedBackend.Kernels;
import io.kinema.compute.collective.Communicator;
import io.kinema.compute.collective.DeviceCommunicator;
import io.kinema.cuda.blas.CublasLt;
import io.kinema.cuda.collective.GpuRanks;
import io.kinema.cuda.collective.RankGpu;
import io.kinema.cuda.dnn.Cudnn;
import io.kinema.cuda.dnn.CudnnSdpa;
import io.kinema.cuda.driver.CudaDriver;
import io.kinema.cuda.driver.GpuContext;
import io.kinema.cuda.driver.GpuFacts;
import io.kinema.cuda.driver.GpuStream;
import io.kinema.cuda.ffi.CudaException;
import io.kinema.cuda.ffi.CudaLibrary;
import io.kinema.cuda.ffi.CudaUnavailableException;
import io.kinema.cuda.ffi.LibraryFinder;
import io.kinema.cuda.kernel.KernelManifest;
import io.kinema.cuda.kernel.KernelModules;
import io.kinema.cuda.kernel.Launcher;
import io.kinema.cuda.memory.DeviceAllocator;
import io.kinema.cuda.memory.DevicePool;
import io.kinema.cuda.memory.DeviceWorkspace;
import io.kinema.cuda.ops.AttentionSet;
import io.kinema.cuda.ops.CudaAttention;
import io.kinema.cuda.ops.CudaConvolutions;
import io.kinema.cuda.ops.CudaElementwise;
import io.kinema.cuda.ops.CudaLinear;
import io.kinema.cuda.ops.CudaMoves;
import io.kinema.cuda.ops.CudaNorms;
import io.kinema.cuda.ops.CudaPictures;
import io.kinema.cuda.ops.FlashHopper;
import io.kinema.cuda.ops.FusedProducts;
import io.kinema.cuda.ops.OpContext;
import io.kinema.weights.DType;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/** Owns everything that a {@link CudaBackend} is made of, in the order of its making, until it is closed; closing twice is harmless. */
final class CudaParts implements AutoCloseable {
    /** Twelve tiles of 128 x 256 on each multiprocessor for products 2048 wide: the last round is as full as the others. */
    private static final int ROWS_OF_PROCESSOR = 192;

    private final Deque<AutoCloseable> owned = new ArrayDeque<>();
    private GpuContext context;
    private GpuStream stream;
    private KernelModules modules;
    private DevicePool pool;
    private CublasLt blas;
    private Optional<CudnnSdpa> cudnn = Optional.empty();
    private final List<Path> libraryFiles = new ArrayList<>();
    private final List<Fallback> fallbacks = new ArrayList<>();
    private long compilationsAtStart;
    private long rowsTogether;
    private Optional<FusedProducts> products = Optional.empty();
    private CudaLinear linear;
    private CudaPictures pictures;
    private CudaNorms norms;
    private CudaAttention attention;
    private Device device;
    private Kernels kernels;
    private OpContext operations;
    private Optional<String> collectives = Optional.empty();
    private Optional<String> ncclVersion = Optional.empty();

    private CudaParts() {
    }

    static CudaParts open(int index, CudaOptions options) {
        CudaParts parts = new CudaParts();
        try {
            parts.make(LibraryFinder.ofEnvironment(), index, options);
            return parts;
        } catch (RuntimeException | LinkageError e) {
            parts.close();
            throw e;
        }
    }

    private <T extends AutoCloseable> T own(T part) {
        owned.push(part);
        return part;
    }

    private void make(LibraryFinder finder, int index, CudaOptions options) {
        context = own(GpuContext.open(CudaDriver.load(finder), index));
        device = new Device(Device.Kind.CUDA, index);
        stream = own(new GpuStream(context));
        KernelManifest manifest = KernelManifest.read();
        modules = own(KernelModules.load(context, manifest, images(context.facts(), options)));
        Launcher launcher = own(new Launcher(modules, stream));
        pool = own(new DevicePool(device.toString(), DeviceAllocator.of(context), options.maxMemoryBytes().orElse(Long.MAX_VALUE)));
        compilationsAtStart = modules.compilations();
        rowsTogether = options.maxMemoryBytes().isPresent() ? 0 : (long) context.facts().processors() * ROWS_OF_PROCESSOR;
        note(finder.find(CudaLibrary.DRIVER));
        note(finder.find(CudaLibrary.CUBLASLT));
        blas = own(CublasLt.open(finder));
        finder.find(CudaLibrary.NVRTC); // cuDNN looks for it by name among what is loaded
        cudnn = openCudnn(finder, options);
        DeviceWorkspace scratch = own(new DeviceWorkspace("operations", device, pool));
        long productMemory = scratch.allocate(DType.U8, CublasLt.WORKSPACE_BYTES).data().address();
        OpContext c = new OpContext(device, context.facts(), stream, launcher, scratch);
        operations = c;
        CudaMoves moves = new CudaMoves(c);
        Optional<FlashHopper> flash = Optional.empty();
        if (modules.choice().target().equals("sm_90a")) {
            products = Optional.of(own(new FusedProducts(c, context)));
            flash = Optional.of(own(new FlashHopper(c, context)));
        }
        linear = new CudaLinear(c, blas, products, moves, productMemory);
        pictures = new CudaPictures(c);
        norms = new CudaNorms(c);
        attention = AttentionSet.of(c, cudnn, options.attention().label(), options.queryTile(), modules.choice().target(), flash);
        kernels = new Kernels(linear, norms, attention, new CudaElementwise(c), new CudaConvolutions(c), moves);
    }

    private static KernelManifest.Choice images(GpuFacts gpu, CudaOptions options) {
        if (!KernelManifest.serves(gpu.architecture())) {
            throw new CudaUnavailableException(gpu + ": this build has kernels for compute capability 7.0 and later; run with --device cpu");
        }
        return KernelManifest.choose(gpu.architecture(), options.architecture().orElse(gpu.architecture()));
    }

    /** Without cuDNN attention is flash's, which the record says; asked for by name, its absence is an error. */
    private Optional<CudnnSdpa> openCudnn(LibraryFinder finder, CudaOptions options) {
        boolean asked = options.attention() == CudaOptions.AttentionChoice.CUDNN;
        if (!asked && options.attention() != CudaOptions.AttentionChoice.AUTO) {
            return Optional.empty();
        }
        LibraryFinder.Found found = finder.find(CudaLibrary.CUDNN);
        if (found.symbols().isEmpty() && !asked) {
            return withoutCudnn("cuDNN is not found");
        }
        try {
            CudnnSdpa opened = own(new CudnnSdpa(Cudnn.open(found, stream)));
            note(found);
            return Optional.of(opened);
        } catch (CudaException e) {
            if (asked) {
                throw e;
            }
            return withoutCudnn(e.getMessage());
        }
    }

    private Optional<CudnnSdpa> withoutCudnn(String reason) {
        fallbacks.add(new Fallback("attention", "cudnn", "flash", reason));
        return Optional.empty();
    }

    /** Files that the loader found by itself have no path to note. */
    private void note(LibraryFinder.Found found) {
        Path file = Path.of(found.file());
        if (file.isAbsolute()) {
            libraryFiles.add(file);
        }
    }

    List<Path> libraryFiles() {
        return libraryFiles;
    }

    List<Fallback> fallbacks() {
        return fallbacks;
    }

    long compilationsAtStart() {
        return compilationsAtStart;
    }

    /** Rows of one product that keep the GPU busy; 0 under a memory limit, which they could pass. */
    long rowsTogether() {
        return rowsTogether;
    }

    Device device() {
        return device;
    }

    Kernels kernels() {
        return kernels;
    }

    GpuContext context() {
        return context;
    }

    /** This rank's end among others on GPUs, owned by the caller. Collective. */
    DeviceCommunicator join(Communicator host) {
        LibraryFinder finder = LibraryFinder.ofEnvironment();
        GpuRanks.Joined joined = GpuRanks.join(host, rank(), finder);
        joined.fallback().ifPresent(fallbacks::add);
        collectives = Optional.of(joined.nccl().isPresent() ? "NCCL" : "peer buffers");
        ncclVersion = joined.nccl();
        if (ncclVersion.isPresent()) {
            note(finder.find(CudaLibrary.NCCL));
        }
        return joined.end();
    }

    /** What collectives work with. */
    RankGpu rank() {
        return new RankGpu(context, operations, owner -> new DeviceWorkspace(owner, device, pool));
    }

    /** Who adds up the ranks' tensors. */
    Optional<String> collectives() {
        return collectives;
    }

    Optional<String> ncclVersion() {
        return ncclVersion;
    }

    GpuStream stream() {
        return stream;
    }

    KernelModules modules() {
        return modules;
    }

    DevicePool pool() {
        return pool;
    }

    CublasLt blas() {
        return blas;
    }

    Optional<CudnnSdpa> cudnn() {
        return cudnn;
    }

    /** Kinema's own products, where the loaded images have them. */
    Optional<FusedProducts> products() {
        return products;
    }

    CudaNorms norms() {
        return norms;
    }

    CudaPictures pictures() {
        return pictures;
    }

    CudaLinear linear() {
        return linear;
    }

    CudaAttention attention() {
        return attention;
    }

    @Override
    public void close() {
        while (!owned.isEmpty()) {
            try {
                owned.pop().close();
            } catch (RuntimeException e) {
                throw e;
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
    }
}

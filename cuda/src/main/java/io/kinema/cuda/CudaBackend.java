package io.kinema.cuda;

import io.kinema.compute.Arrival;
import io.kinema.compute.BackendReport;
import io.kinema.compute.Device;
import io.kinema.compute.Operand;
import io.kinema.compute.PageLockedMemory;
import io.kinema.compute.PictureOps;
import io.kinema.compute.StagingLoader;
import io.kinema.compute.Tensor;
import io.kinema.compute.TimeMark;
import io.kinema.compute.Weight;
import io.kinema.compute.Workspace;
import io.kinema.compute.check.CheckedBackend;
import io.kinema.compute.collective.Communicator;
import io.kinema.compute.collective.DeviceCommunicator;
import io.kinema.compute.event.TransferEvent;
import io.kinema.cuda.collective.RankGpu;
import io.kinema.cuda.driver.GpuEvent;
import io.kinema.cuda.driver.GpuFacts;
import io.kinema.cuda.driver.GpuGraph;
import io.kinema.cuda.driver.GpuStream;
import io.kinema.cuda.ffi.CudaException;
import io.kinema.cuda.memory.DeviceMemoryException;
import io.kinema.cuda.memory.DeviceWorkspace;
import io.kinema.cuda.ops.FusedProducts;
import io.kinema.weights.DType;
import io.kinema.weights.StoredTensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Owns one GPU's stream, kernels, libraries and memory pool until it is closed; closing twice is harmless. Everything is
 * enqueued on one stream; workspaces made by it must be closed before it. One thread at a time calls it.
 */
public final class CudaBackend extends CheckedBackend {
    private final CudaParts parts;
    private boolean closed;

    private CudaBackend(CudaParts parts) {
        super(parts.device(), parts.kernels());
        this.parts = parts;
    }

    /**
     * Opens GPU {@code index}: finds the libraries, loads the kernels, makes the stream.
     *
     * @throws io.kinema.cuda.ffi.CudaUnavailableException when the machine lacks the driver, the GPU or a library
     */
    public static CudaBackend open(int index, CudaOptions options) {
        return new CudaBackend(CudaParts.open(index, options));
    }

    @Override
    public String name() {
        return "cuda";
    }

    /** What the driver says about the GPU. */
    public GpuFacts gpu() {
        return parts.context().facts();
    }

    @Override
    protected void enter() {
        parts.context().makeCurrent();
    }

    @Override
    public Workspace workspace(String owner) {
        return new DeviceWorkspace(owner, device(), parts.pool());
    }

    @Override
    public Tensor load(StoredTensor stored, Workspace owner) {
        kernels();
        return upload(stored, owner, parts.stream());
    }

    static Tensor upload(StoredTensor stored, Workspace owner, GpuStream stream) {
        Tensor copy = owner.allocate(stored.dtype(), stored.shape().toArray());
        if (copy.elements() > 0) {
            long bytes = copy.elements() * copy.dtype().bytes();
            TransferEvent.around("cpu", copy.device().toString(), bytes, () -> stream.upload(stored.data(), copy.data().address(), bytes));
        }
        return copy;
    }

    @Override
    public long rowsTogether() {
        return parts.rowsTogether();
    }

    @Override
    public Optional<StagingLoader> stagingLoader() {
        kernels();
        return Optional.of(new CudaStagingLoader(parts));
    }

    @Override
    public Optional<PageLockedMemory> pageLockedMemory() {
        kernels();
        return Optional.of(this::pageLocked);
    }

    private MemorySegment pageLocked(long bytes, Arena owner) {
        try {
            enter();
            return parts.context().pageLocked(bytes, owner);
        } catch (CudaException e) {
            throw new DeviceMemoryException("page-locked memory: " + bytes + " bytes more were refused (" + e.getMessage() + "); use --host-weights pageable");
        }
    }

    @Override
    public long workspaceBytes() {
        return parts.pool().usedBytes();
    }

    @Override
    public Operand prepareSwiglu(Tensor gate, Tensor up, DType target, Workspace ws) {
        if (target != DType.F16) {
            return super.prepareSwiglu(gate, up, target, ws);
        }
        kernels();
        return parts.linear().prepareSwigluF16(gate, up, ws);
    }

    /** This rank's end among others on GPUs, owned by the caller; collective. */
    DeviceCommunicator join(Communicator host) {
        kernels();
        return parts.join(host);
    }

    /** What collectives work with; owned by this. */
    public RankGpu rank() {
        kernels();
        return parts.rank();
    }

    @Override
    public Operand prepareRmsNorm(Tensor x, Optional<Tensor> weight, float eps, DType target, Workspace ws) {
        kernels();
        Optional<Operand> fused = target == DType.F16 ? parts.norms().prepareRmsNormF16(x, weight, eps, ws) : Optional.empty();
        return fused.orElseGet(() -> super.prepareRmsNorm(x, weight, eps, target, ws));
    }

    @Override
    public Operand linearSwiglu(Operand x, Weight w, Optional<Tensor> bias, boolean gateFirst, DType target, Workspace ws) {
        Optional<FusedProducts> own = products(x, w, bias).filter(_ -> target == x.values().dtype() && w.outFeatures() % 16 == 0);
        return own.map(p -> p.swiglu(x, w, bias, gateFirst, ws)).orElseGet(() -> super.linearSwiglu(x, w, bias, gateFirst, target, ws));
    }

    @Override
    public void linearResidual(Operand x, Weight w, Optional<Tensor> bias, RowGate gate, Tensor residual, Workspace ws) {
        if (products(x, w, bias).filter(p -> gate.rowIndex().isEmpty() && p.residual(x, w, bias, gate.table(), residual)).isEmpty()) {
            super.linearResidual(x, w, bias, gate, residual, ws);
        }
    }

    @Override
    public void linearHeads(Operand x, Weight w, Optional<Tensor> bias, HeadNorm norm, Rotary rotary, Tensor out) {
        if (products(x, w, bias).filter(p -> p.heads(x, w, bias, norm, rotary, out)).isEmpty()) {
            super.linearHeads(x, w, bias, norm, rotary, out);
        }
    }

    /** Kinema's own products where there are any for these operands. */
    private Optional<FusedProducts> products(Operand x, Weight w, Optional<Tensor> bias) {
        kernels();
        return parts.products().filter(p -> p.takes(x, w, bias));
    }

    @Override
    public void levels(Tensor x, float[] factor, float[] offset, Tensor out, Tensor notFinite) {
        if (x.device().kind() == Device.Kind.CPU) {
            super.levels(x, factor, offset, out, notFinite);
            return;
        }
        PictureOps.requireLevels(x, factor, offset, out, notFinite);
        kernels();
        parts.pictures().levels(x, factor, offset, out, notFinite);
    }

    @Override
    public Arrival download(Tensor src, MemorySegment to) {
        kernels();
        parts.stream().download(src.data().address(), to, src.elements() * src.dtype().bytes());
        GpuEvent copied = GpuEvent.untimed(parts.context());
        copied.record(parts.stream());
        return new Arrival() {
            @Override
            public void await() {
                enter();
                copied.await();
            }

            @Override
            public void close() {
                copied.close();
            }
        };
    }

    @Override
    public void finish() {
        kernels();
        parts.stream().synchronize();
    }

    @Override
    public Optional<Recording> record(Runnable work) {
        kernels();
        return parts.stream().capture(work).map(this::recording);
    }

    private Recording recording(GpuGraph graph) {
        return new Recording() {
            @Override
            public void replay() {
                kernels();
                graph.launch(parts.stream());
            }

            @Override
            public void close() {
                graph.close();
            }
        };
    }

    @Override
    public TimeMark mark() {
        kernels();
        GpuEvent event = new GpuEvent(parts.context());
        event.record(parts.stream());
        return new DeviceMark(event);
    }

    /** Owns an event. */
    record DeviceMark(GpuEvent event) implements TimeMark {
        @Override
        public double secondsSince(TimeMark earlier) {
            if (earlier instanceof DeviceMark mark) {
                return event.secondsSince(mark.event);
            }
            throw new IllegalArgumentException("time mark: got one of another backend, expected one of this device");
        }

        @Override
        public void close() {
            event.close();
        }
    }

    @Override
    public BackendReport report() {
        TreeMap<String, String> facts = new TreeMap<>();
        facts.put("gpu", gpu().name());
        facts.put("compute_capability", gpu().major() + "." + gpu().minor());
        facts.put("multiprocessors", Integer.toString(gpu().processors()));
        facts.put("memory_bytes", Long.toString(gpu().memoryBytes()));
        facts.put("kernel_images", parts.modules().choice().toString());
        facts.put("modules_compiled_at_start", Long.toString(parts.compilationsAtStart()));
        return new BackendReport(facts, parts.libraryFiles(), parts.pool().peakBytes(), 0,
                parts.modules().compilations() - parts.compilationsAtStart(), parts.fallbacks());
    }

    @Override
    public Map<String, String> libraries() {
        Map<String, String> all = new TreeMap<>();
        all.put("cuda_driver", parts.context().driver().version());
        all.put("cublaslt", parts.blas().version());
        parts.cudnn().ifPresent(c -> all.put("cudnn", Long.toString(c.version())));
        parts.ncclVersion().ifPresent(version -> all.put("nccl", version));
        return all;
    }

    @Override
    public Map<String, String> choices() {
        Map<String, String> all = new TreeMap<>();
        all.put("gpu", gpu().toString());
        all.put("kernel images", parts.modules().choice().toString());
        parts.attention().choices().forEach((shape, kind) -> all.put("attention " + shape, kind));
        parts.cudnn().ifPresent(c -> c.plans().forEach((shape, form) -> all.put("cudnn plan " + shape, form)));
        parts.collectives().ifPresent(how -> all.put("collectives", how));
        parts.products().ifPresent(p -> p.choices().forEach((shape, kernel) -> all.put("product " + shape, kernel)));
        parts.blas().plans().forEach((shape, plan) -> all.put("product " + shape, plan));
        return all;
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            enter();
            super.close();
            parts.close();
        }
    }
}

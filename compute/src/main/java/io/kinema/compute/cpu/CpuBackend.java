package io.kinema.compute.cpu;

import io.kinema.compute.BackendReport;
import io.kinema.compute.Device;
import io.kinema.compute.HostWorkspace;
import io.kinema.compute.StagingLoader;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.compute.check.CheckedBackend;
import io.kinema.weights.StoredTensor;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;

/**
 * Owns worker threads and their scratch memory until it is closed. Matrix products run in OpenBLAS, everything else in
 * Vector API loops. The work of an operation is cut by its shapes only, so the same inputs give the same bits at any
 * thread count.
 */
public final class CpuBackend extends CheckedBackend {
    private static final String VECTOR_MODULE = "jdk.incubator.vector";

    private final WorkerPool pool;
    /** Bytes of open workspaces. */
    private final LongAdder held = new LongAdder();
    private final CpuLinear linear;
    private final CpuAttention attention;
    private final CpuConvolutions convolutions;

    /**
     * Opens the backend.
     *
     * @param threads compute threads, the caller's included; at least 1
     * @throws IllegalArgumentException when {@code threads} is below 1
     * @throws IllegalStateException when the JVM runs without the Vector API's module or OpenBLAS cannot be loaded; the
     *         message says what to do
     */
    public static CpuBackend open(int threads) {
        if (threads < 1) {
            throw new IllegalArgumentException("threads: got " + threads + ", expected at least 1");
        }
        requireVectorApi();
        OpenBlas.load();
        return new CpuBackend(new WorkerPool(threads));
    }

    private CpuBackend(WorkerPool pool) {
        this(pool, new CpuLinear(pool), new CpuAttention(pool), new CpuConvolutions(pool));
    }

    private CpuBackend(WorkerPool pool, CpuLinear linear, CpuAttention attention, CpuConvolutions convolutions) {
        super(Device.CPU, new Kernels(linear, new CpuNorms(pool), attention, new CpuElementwise(pool), convolutions, new CpuMoves(pool)));
        this.pool = pool;
        this.linear = linear;
        this.attention = attention;
        this.convolutions = convolutions;
    }

    /** Before any class that uses vectors is touched: the JVM's own error would not name the flag. */
    static void requireVectorApi() {
        if (ModuleLayer.boot().findModule(VECTOR_MODULE).isEmpty()) {
            throw new IllegalStateException("the cpu backend needs the Vector API: start java with --add-modules=" + VECTOR_MODULE);
        }
    }

    @Override
    public String name() {
        return "cpu";
    }

    /** Compute threads, the caller's included. */
    public int threads() {
        return pool.threads();
    }

    /** What this backend runs on. */
    public CpuFacts facts() {
        return CpuFacts.of(threads());
    }

    @Override
    public BackendReport report() {
        CpuFacts facts = facts();
        return BackendReport.ofHost(facts.named(), List.of(Path.of(facts.blasLibrary())));
    }

    @Override
    public Map<String, String> libraries() {
        return Map.of("openblas", facts().blasConfig());
    }

    /** The rate of large FP32 matrix products on all threads, in FLOP/s, measured for about {@code seconds}. */
    public double sgemmRate(double seconds) {
        kernels();
        return SgemmRate.measure(pool, seconds);
    }

    @Override
    public Workspace workspace(String owner) {
        return HostWorkspace.counted(owner, held);
    }

    @Override
    public Tensor load(StoredTensor stored, Workspace owner) {
        return Tensor.of(stored.dtype(), stored.shape(), stored.data(), Device.CPU);
    }

    @Override
    public Optional<StagingLoader> stagingLoader() {
        kernels();
        return Optional.of(new CpuStagingLoader(held));
    }

    @Override
    public long workspaceBytes() {
        return held.sum();
    }

    @Override
    public long ownBytes() {
        kernels();
        return pool.scratchBytes() + linear.scratchBytes() + attention.scratchBytes() + convolutions.scratchBytes();
    }

    @Override
    public void finish() {
        kernels();
    }

    @Override
    public void close() {
        super.close();
        pool.close();
        linear.close();
        attention.close();
        convolutions.close();
    }
}

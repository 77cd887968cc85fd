package io.kinema.cuda.blas;

import io.kinema.cuda.driver.GpuStream;
import io.kinema.cuda.ffi.Bindings;
import io.kinema.cuda.ffi.CudaException;
import io.kinema.cuda.ffi.CudaLibrary;
import io.kinema.cuda.ffi.LibraryFinder;
import io.kinema.cuda.ffi.NativeCall;
import io.kinema.weights.DType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Owns a cuBLASLt handle and the plans of all shapes seen, until it is closed; closing twice is harmless. A plan is what
 * the library's heuristic names first among algorithms that accumulate and reduce in FP32 without TF32; the same shape
 * on the same machine gets the same plan, and a plan never changes. Used by one thread, with its device's context current.
 */
public final class CublasLt implements AutoCloseable {
    /** Scratch bytes that every plan may use; the caller provides them with each product. */
    public static final long WORKSPACE_BYTES = 64L << 20;

    private static final int COMPUTE_32F = 68;
    private static final int TRANSPOSE_A = 3;
    private static final int EPILOGUE = 7;
    private static final int BIAS_POINTER = 8;
    private static final int EPILOGUE_BIAS = 4;
    private static final int MAX_WORKSPACE = 1;
    private static final int REDUCTION_SCHEMES = 3;
    private static final int REDUCE_IN_COMPUTE_TYPE = 2;
    private static final int[] ALIGNMENTS = {5, 6, 7, 8};
    /** cublasLtMatmulHeuristicResult_t: algorithm 64, workspace 8, status 4, waves 4, reserved 16. */
    private static final long RESULT_BYTES = 96;
    private static final long RESULT_WORKSPACE = 64;
    private static final long RESULT_STATUS = 72;

    private final CublasLtSymbols symbols;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment handle;
    private final MemorySegment one = arena.allocateFrom(ValueLayout.JAVA_FLOAT, 1f);
    private final MemorySegment zero = arena.allocateFrom(ValueLayout.JAVA_FLOAT, 0f);
    private final Map<MatmulShape, MatmulPlan> plans = new LinkedHashMap<>();
    private boolean closed;

    private CublasLt(CublasLtSymbols symbols) {
        this.symbols = symbols;
        this.handle = created("cublasLtCreate", out -> (int) symbols.create().invokeExact(out));
    }

    /** Loads the library and makes a handle. @throws io.kinema.cuda.ffi.CudaUnavailableException when it is not found */
    public static CublasLt open(LibraryFinder finder) {
        return new CublasLt(Bindings.bind(CublasLtSymbols.class, finder.find(CudaLibrary.CUBLASLT).require(), CudaLibrary.CUBLASLT.title()));
    }

    /** The library's version number, such as 130100. */
    public String version() {
        long[] version = new long[1];
        NativeCall.status(() -> {
            version[0] = (long) symbols.version().invokeExact();
            return 0;
        });
        return Long.toString(version[0]);
    }

    private interface Creation {
        int run(MemorySegment out) throws Throwable;
    }

    private MemorySegment created(String function, Creation creation) {
        try (Arena call = Arena.ofConfined()) {
            MemorySegment out = call.allocate(ValueLayout.ADDRESS);
            check(function, () -> creation.run(out));
            return out.get(ValueLayout.ADDRESS, 0);
        }
    }

    private void check(String function, NativeCall.Status call) {
        int code = NativeCall.status(call);
        if (code != 0) {
            throw new CudaException(function, code, NativeCall.text(() -> (MemorySegment) symbols.statusName().invokeExact(code)),
                    NativeCall.text(() -> (MemorySegment) symbols.statusString().invokeExact(code)));
        }
    }

    /**
     * Enqueues a product.
     *
     * @param bias      FP32 [N], 0 unless the shape has one
     * @param workspace {@link #WORKSPACE_BYTES} of device memory that nothing else uses on this stream meanwhile
     */
    public void multiply(MatmulShape shape, long x, long w, long bias, long out, long workspace, GpuStream stream) {
        MatmulPlan plan = plans.get(shape);
        if (plan == null) {
            plan = choose(shape);
            plans.put(shape, plan);
        }
        if (shape.bias()) {
            set(plan.operation(), BIAS_POINTER, bias);
        }
        MatmulPlan p = plan;
        check("cublasLtMatmul " + shape, () -> (int) symbols.matmul().invokeExact(handle, p.operation(), one, w, p.w(), x, p.x(), zero, out, p.out(),
                out, p.out(), p.algorithm(), workspace, p.workspaceBytes(), stream.handle()));
    }

    /** Row-major matrices are column-major ones transposed: the library computes out^T [N, M] = w [N, K] x^T [K, M]. */
    private MatmulPlan choose(MatmulShape s) {
        MemorySegment operation = created("cublasLtMatmulDescCreate",
                out -> (int) symbols.matmulDescCreate().invokeExact(out, COMPUTE_32F, CudaType.of(DType.F32)));
        set(operation, TRANSPOSE_A, s.weightByColumn() ? 0 : 1);
        if (s.bias()) {
            set(operation, EPILOGUE, EPILOGUE_BIAS);
            set(operation, BIAS_POINTER, 256L);
        }
        MemorySegment w = s.weightByColumn() ? layout(s.operand(), s.columns(), s.depth(), s.wPitch()) : layout(s.operand(), s.depth(), s.columns(), s.wPitch());
        MemorySegment x = layout(s.operand(), s.depth(), s.rows(), s.xPitch());
        MemorySegment out = layout(s.result(), s.columns(), s.rows(), s.outPitch());
        MemorySegment result = arena.allocate(RESULT_BYTES, 8);
        search(s, operation, w, x, out, result);
        return new MatmulPlan(s, operation, x, w, out, result, result.get(ValueLayout.JAVA_LONG, RESULT_WORKSPACE), describe(result));
    }

    private MemorySegment layout(DType dtype, long rows, long columns, long pitch) {
        return created("cublasLtMatrixLayoutCreate",
                out -> (int) symbols.matrixLayoutCreate().invokeExact(out, CudaType.of(dtype), rows, columns, Math.max(pitch, rows)));
    }

    private void search(MatmulShape s, MemorySegment operation, MemorySegment w, MemorySegment x, MemorySegment out, MemorySegment result) {
        MemorySegment preference = created("cublasLtMatmulPreferenceCreate", p -> (int) symbols.preferenceCreate().invokeExact(p));
        try (Arena call = Arena.ofConfined()) {
            prefer(preference, MAX_WORKSPACE, call.allocateFrom(ValueLayout.JAVA_LONG, WORKSPACE_BYTES));
            prefer(preference, REDUCTION_SCHEMES, call.allocateFrom(ValueLayout.JAVA_INT, REDUCE_IN_COMPUTE_TYPE));
            for (int alignment : ALIGNMENTS) {
                prefer(preference, alignment, call.allocateFrom(ValueLayout.JAVA_INT, s.alignment()));
            }
            MemorySegment count = call.allocate(ValueLayout.JAVA_INT);
            check("cublasLtMatmulAlgoGetHeuristic " + s,
                    () -> (int) symbols.heuristic().invokeExact(handle, operation, w, x, out, out, preference, 1, result, count));
            int status = result.get(ValueLayout.JAVA_INT, RESULT_STATUS);
            if (count.get(ValueLayout.JAVA_INT, 0) < 1 || status != 0) {
                throw new CudaException("cublasLtMatmulAlgoGetHeuristic", status, "no algorithm", "for " + s);
            }
        } finally {
            check("cublasLtMatmulPreferenceDestroy", () -> (int) symbols.preferenceDestroy().invokeExact(preference));
        }
    }

    private void prefer(MemorySegment preference, int attribute, MemorySegment value) {
        long bytes = value.byteSize();
        check("cublasLtMatmulPreferenceSetAttribute", () -> (int) symbols.preferenceSetAttribute().invokeExact(preference, attribute, value, bytes));
    }

    private void set(MemorySegment operation, int attribute, int value) {
        try (Arena call = Arena.ofConfined()) {
            MemorySegment v = call.allocateFrom(ValueLayout.JAVA_INT, value);
            check("cublasLtMatmulDescSetAttribute", () -> (int) symbols.matmulDescSetAttribute().invokeExact(operation, attribute, v, 4L));
        }
    }

    private void set(MemorySegment operation, int attribute, long value) {
        try (Arena call = Arena.ofConfined()) {
            MemorySegment v = call.allocateFrom(ValueLayout.JAVA_LONG, value);
            check("cublasLtMatmulDescSetAttribute", () -> (int) symbols.matmulDescSetAttribute().invokeExact(operation, attribute, v, 8L));
        }
    }

    private String describe(MemorySegment algorithm) {
        return "algorithm " + config(algorithm, 0) + ", tile " + config(algorithm, 1) + ", stages " + config(algorithm, 6)
                + ", split " + config(algorithm, 2) + ", cluster " + config(algorithm, 8);
    }

    private int config(MemorySegment algorithm, int attribute) {
        try (Arena call = Arena.ofConfined()) {
            MemorySegment value = call.allocate(8);
            MemorySegment written = call.allocate(ValueLayout.JAVA_LONG);
            int status = NativeCall.status(() -> (int) symbols.algoConfig().invokeExact(algorithm, attribute, value, attribute == 8 ? 2L : 4L, written));
            return status == 0 ? value.get(ValueLayout.JAVA_INT, 0) : -1;
        }
    }

    /** Shape to algorithm, in the order in which they were met. */
    public Map<String, String> plans() {
        Map<String, String> all = new LinkedHashMap<>();
        plans.forEach((shape, plan) -> all.put(shape.toString(), plan.description()));
        return all;
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        for (MatmulPlan plan : plans.values()) {
            check("cublasLtMatmulDescDestroy", () -> (int) symbols.matmulDescDestroy().invokeExact(plan.operation()));
            for (MemorySegment layout : new MemorySegment[] {plan.x(), plan.w(), plan.out()}) {
                check("cublasLtMatrixLayoutDestroy", () -> (int) symbols.matrixLayoutDestroy().invokeExact(layout));
            }
        }
        check("cublasLtDestroy", () -> (int) symbols.destroy().invokeExact(handle));
        arena.close();
    }
}

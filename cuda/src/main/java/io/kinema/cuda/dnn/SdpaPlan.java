package io.kinema.cuda.dnn;

import io.kinema.cuda.dnn.Descriptor.Kind;
import io.kinema.cuda.ffi.CudaException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/** Owns an executable plan of one attention until it is closed; closing twice is harmless. */
final class SdpaPlan implements AutoCloseable {
    private static final int HEURISTIC_MODE = 8;
    private static final int MODE_A = 3;
    private static final int MOST_ENGINES = 8;

    private final Cudnn cudnn;
    private final SdpaGraph graph;
    private final Descriptor plan;
    private final List<Descriptor> engines;
    private final long workspaceBytes;
    private final String form;

    private SdpaPlan(Cudnn cudnn, SdpaGraph graph, List<Descriptor> engines, Descriptor plan, String form) {
        this.cudnn = cudnn;
        this.graph = graph;
        this.engines = engines;
        this.plan = plan;
        this.form = form;
        this.workspaceBytes = plan.readLong(402);
    }

    /** The first plan that cuDNN's heuristic offers, for the one-operation form if it takes that, else for the chain. */
    static SdpaPlan choose(Cudnn cudnn, SdpaShape shape) {
        try {
            return of(cudnn, SdpaGraph.oneOperation(cudnn, shape), "one operation");
        } catch (CudaException refused) {
            try {
                return of(cudnn, SdpaGraph.chain(cudnn, shape), "chain");
            } catch (CudaException e) {
                e.addSuppressed(refused);
                throw e;
            }
        }
    }

    private static SdpaPlan of(Cudnn cudnn, SdpaGraph graph, String form) {
        List<Descriptor> engines = new ArrayList<>();
        try (Descriptor heuristic = new Descriptor(cudnn, Kind.HEURISTIC)) {
            heuristic.descriptors(201, graph.graph()).number(200, HEURISTIC_MODE, MODE_A).finish();
            for (int i = 0; i < MOST_ENGINES; i++) {
                engines.add(new Descriptor(cudnn, Kind.ENGINE_CONFIG));
            }
            int count = heuristic.readDescriptors(202, engines.toArray(Descriptor[]::new));
            return new SdpaPlan(cudnn, graph, engines, first(cudnn, engines.subList(0, count)), form);
        } catch (RuntimeException e) {
            engines.forEach(Descriptor::close);
            graph.close();
            throw e;
        }
    }

    private static Descriptor first(Cudnn cudnn, List<Descriptor> engines) {
        CudaException last = new CudaException("cudnn heuristic", 0, "no engine", "for this attention");
        for (Descriptor engine : engines) {
            Descriptor plan = new Descriptor(cudnn, Kind.PLAN);
            try {
                return plan.library(400).descriptors(401, engine).finish();
            } catch (CudaException e) {
                plan.close();
                last = e;
            }
        }
        throw last;
    }

    long workspaceBytes() {
        return workspaceBytes;
    }

    String form() {
        return form;
    }

    void run(long q, long k, long v, long out, float scale, long workspace) {
        try (Arena call = Arena.ofConfined(); Descriptor pack = new Descriptor(cudnn, Kind.VARIANT_PACK)) {
            MemorySegment factor = call.allocateFrom(ValueLayout.JAVA_FLOAT, scale);
            pack.longs(1000, SdpaGraph.Q, SdpaGraph.K, SdpaGraph.V, SdpaGraph.OUT, SdpaGraph.SCALE)
                    .pointers(1001, q, k, v, out, factor.address()).pointers(1003, workspace).finish();
            cudnn.check("cudnnBackendExecute",
                    () -> (int) cudnn.symbols().execute().invokeExact(cudnn.handle(), plan.handle(), pack.handle()));
        }
    }

    @Override
    public void close() {
        plan.close();
        engines.forEach(Descriptor::close);
        graph.close();
    }
}

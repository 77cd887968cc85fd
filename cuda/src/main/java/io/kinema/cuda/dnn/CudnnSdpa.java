package io.kinema.cuda.dnn;

import java.util.LinkedHashMap;
import java.util.Map;

/** Owns the attention plans of all shapes seen until it is closed, and the library's handle; closing twice is harmless. */
public final class CudnnSdpa implements AutoCloseable {
    private final Cudnn cudnn;
    private final Map<SdpaShape, SdpaPlan> plans = new LinkedHashMap<>();

    public CudnnSdpa(Cudnn cudnn) {
        this.cudnn = cudnn;
    }

    /** The library's version, such as 91900. */
    public long version() {
        return cudnn.version();
    }

    /** Scratch bytes that {@link #run} wants for this shape; makes the plan when it is the first of its shape. */
    public long workspaceBytes(SdpaShape shape) {
        return plan(shape).workspaceBytes();
    }

    /** Enqueues {@code out = softmax(scale q k^T) v} on the handle's stream; addresses are 16-byte aligned. */
    public void run(SdpaShape shape, long q, long k, long v, long out, float scale, long workspace) {
        plan(shape).run(q, k, v, out, scale, workspace);
    }

    private SdpaPlan plan(SdpaShape shape) {
        return plans.computeIfAbsent(shape, s -> SdpaPlan.choose(cudnn, s));
    }

    /** How each shape is computed. */
    public Map<String, String> plans() {
        Map<String, String> all = new LinkedHashMap<>();
        plans.forEach((shape, plan) -> all.put(shape.queries() + "x" + shape.keys() + ", " + shape.heads() + " heads of " + shape.headDim(), plan.form()));
        return all;
    }

    @Override
    public void close() {
        plans.values().forEach(SdpaPlan::close);
        plans.clear();
        cudnn.close();
    }
}

package io.kinema.cuda.ops;

import io.kinema.compute.AttentionOps;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.weights.DType;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Attention by the first of some kernels that can compute a shape. Which one that was is written down for every shape, and a
 * shape that none can compute is an error: nothing is replaced without a record.
 */
public final class CudaAttention implements AttentionOps {
    private final OpContext c;
    private final List<AttentionKernels> narrow;
    private final List<AttentionKernels> wide;
    private final Map<AttentionShape, AttentionKernels> chosen = new LinkedHashMap<>();

    /**
     * @param narrow for FP16 and BF16 operands, best first
     * @param wide   for FP32 operands, best first
     */
    CudaAttention(OpContext context, List<AttentionKernels> narrow, List<AttentionKernels> wide) {
        this.c = context;
        this.narrow = List.copyOf(narrow);
        this.wide = List.copyOf(wide);
    }

    @Override
    public void attention(Tensor q, Tensor k, Tensor v, float scale, boolean causal, Tensor out) {
        if (out.elements() == 0) {
            return;
        }
        AttentionCall call = new AttentionCall(q, k, v, scale, causal, out);
        AttentionKernels kernels = chosen.computeIfAbsent(call.shape(), this::choose);
        try (Workspace.Frame _ = c.scratch().frame()) {
            kernels.run(call, c.scratch());
        }
    }

    private AttentionKernels choose(AttentionShape shape) {
        List<AttentionKernels> order = shape.operand() == DType.F32 ? wide : narrow;
        return order.stream().filter(k -> k.refusal(shape).isEmpty()).findFirst().orElseThrow(() -> new IllegalArgumentException(
                "attention of " + shape + ": " + order.stream().map(k -> k.name() + " refuses " + k.refusal(shape).orElse("")).collect(Collectors.joining("; "))
                        + "; choose another --attention-backend"));
    }

    /** Shape to the name of what computes it, in the order in which they were met. */
    public Map<String, String> choices() {
        Map<String, String> all = new LinkedHashMap<>();
        chosen.forEach((shape, kernels) -> all.put(shape.toString(), kernels.name()));
        return all;
    }
}

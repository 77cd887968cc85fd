package io.kinema.cuda.ops;

import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.cuda.dnn.CudnnSdpa;
import io.kinema.cuda.dnn.SdpaShape;
import io.kinema.cuda.dnn.SdpaShape.Strides;
import io.kinema.weights.DType;
import java.util.Optional;

/**
 * cuDNN's attention: FP32 scores, softmax and accumulation; the output has the operands' type and is widened from there
 * when FP32 is asked for.
 */
final class CudnnAttention implements AttentionKernels {
    private static final int MOST_CHANNELS = 128;
    private static final int AMPERE = 80;

    private final OpContext c;
    private final CudnnSdpa cudnn;

    CudnnAttention(OpContext context, CudnnSdpa cudnn) {
        this.c = context;
        this.cudnn = cudnn;
    }

    @Override
    public String name() {
        return "cudnn";
    }

    @Override
    public Optional<String> refusal(AttentionShape s) {
        if (c.gpu().architecture() < AMPERE) {
            return Optional.of("compute capability below 8.0");
        }
        if (s.operand() == DType.F32) {
            return Optional.of("FP32 operands, it takes FP16 and BF16");
        }
        if (s.causal()) {
            return Optional.of("causal attention");
        }
        return s.headDim() > MOST_CHANNELS || s.headDim() % 8 != 0
                ? Optional.of("heads of " + s.headDim() + " channels, multiples of 8 up to " + MOST_CHANNELS + " are taken") : Optional.empty();
    }

    @Override
    public void run(AttentionCall call, Workspace scratch) {
        Tensor q = aligned(call.q());
        Tensor k = aligned(call.k());
        Tensor v = aligned(call.v());
        boolean direct = call.out().dtype() == q.dtype() && isAligned(call.out());
        Tensor out = direct ? call.out() : scratch.allocate(q.dtype(), call.out().shape().toArray());
        SdpaShape shape = new SdpaShape(q.size(0), k.size(0), q.size(1), k.size(1), q.size(2), q.dtype() == DType.BF16,
                strides(q), strides(k), strides(v), strides(out));
        long bytes = cudnn.workspaceBytes(shape);
        long workspace = bytes == 0 ? 0 : scratch.allocate(DType.U8, bytes).data().address();
        cudnn.run(shape, q.data().address(), k.data().address(), v.data().address(), out.data().address(), call.scale(), workspace);
        if (!direct) {
            StridedMoves.copy(c, out, call.out());
        }
    }

    private static Strides strides(Tensor t) {
        return new Strides(t.stride(0), t.stride(1));
    }

    private Tensor aligned(Tensor t) {
        return isAligned(t) ? t : c.contiguous(t);
    }

    private static boolean isAligned(Tensor t) {
        return t.data().address() % 16 == 0 && t.stride(0) % 8 == 0 && t.stride(1) % 8 == 0;
    }
}

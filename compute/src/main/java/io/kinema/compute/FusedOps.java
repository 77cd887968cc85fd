package io.kinema.compute;

import io.kinema.weights.DType;
import java.util.Optional;

/**
 * Operations that follow one another in networks. Each equals the operations that it is written as here, whose rounding points are
 * its own; a backend may do them in one pass, without their intermediate values in memory. Only the order of sums may then differ, and
 * additions to a residual may take subnormal terms and sums for zeros, as those of a GPU's cache do.
 */
public interface FusedOps extends LinearOps, NormOps, ElementwiseOps {
    /**
     * {@code prepare(swiglu(gate, up))}: the same bits, without FP32 values in memory where a backend can do without.
     *
     * @param gate   [M, F]; overwritten when it has the target's dtype F32
     * @param up     [M, F]
     * @param target F32, F16 or BF16
     * @param ws     owner of the result
     */
    default Operand prepareSwiglu(Tensor gate, Tensor up, DType target, Workspace ws) {
        if (target == DType.F16) {
            Tensor wide = ws.f32(gate.shape().toArray());
            swiglu(gate, up, wide);
            return prepare(wide, target, ws);
        }
        // Storing FP32 values as BF16 is what preparing them for BF16 does.
        Tensor gated = target == gate.dtype() && target == DType.F32 ? gate : ws.allocate(target, gate.shape().toArray());
        swiglu(gate, up, gated);
        return Operand.of(gated);
    }

    /**
     * {@code prepare(rmsNorm(x))}.
     *
     * @param x      FP32 [M, D]
     * @param target F32, F16 or BF16
     * @param ws     owner of the result
     */
    default Operand prepareRmsNorm(Tensor x, Optional<Tensor> weight, float eps, DType target, Workspace ws) {
        Tensor normed = ws.allocate(target == DType.F16 ? DType.F32 : target, x.shape().toArray());
        rmsNorm(x, weight, eps, normed);
        return prepare(normed, target, ws);
    }

    /**
     * {@code prepareSwiglu} of the halves of an FP32 product {@code x w^T + bias}.
     *
     * @param x         [M, K]
     * @param w         [2 F, K]
     * @param bias      [2 F]
     * @param gateFirst the first half of the weight's rows makes the gates, else the second
     * @param target    F32, F16 or BF16
     * @param ws        owner of the result
     * @return [M, F]
     */
    default Operand linearSwiglu(Operand x, Weight w, Optional<Tensor> bias, boolean gateFirst, DType target, Workspace ws) {
        int inner = w.outFeatures() / 2;
        Tensor both = ws.f32(x.values().size(0), 2L * inner);
        linear(x, w, bias, both);
        Tensor first = both.slice(1, 0, inner);
        Tensor second = both.slice(1, inner, 2L * inner);
        return prepareSwiglu(gateFirst ? first : second, gateFirst ? second : first, target, ws);
    }

    /**
     * {@code gatedResidualAdd} of an FP32 product {@code x w^T + bias}.
     *
     * @param x        [M, K]
     * @param w        [N, K]
     * @param gate     one row of N factors for all rows
     * @param residual FP32 [M, N], updated in place
     * @param ws       scratch memory
     */
    default void linearResidual(Operand x, Weight w, Optional<Tensor> bias, RowGate gate, Tensor residual, Workspace ws) {
        try (Workspace.Frame _ = ws.frame()) {
            Tensor product = ws.f32(residual.shape().toArray());
            linear(x, w, bias, product);
            gatedResidualAdd(residual, product, Optional.of(gate));
        }
    }

    /**
     * {@code headNormRotary} of a product {@code x w^T + bias} that was rounded to the output's dtype.
     *
     * @param x      [M, K]
     * @param w      [N, K]
     * @param rotary tables of T rows
     * @param out    [T, H, D], contiguous, with T H D = M N: row m of the product belongs to token m T / M
     */
    default void linearHeads(Operand x, Weight w, Optional<Tensor> bias, HeadNorm norm, Rotary rotary, Tensor out) {
        linear(x, w, bias, out.reshape(x.values().size(0), w.outFeatures()));
        headNormRotary(out, Optional.of(norm), Optional.of(rotary), out);
    }
}

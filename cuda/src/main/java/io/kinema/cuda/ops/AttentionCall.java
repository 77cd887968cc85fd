package io.kinema.cuda.ops;

import io.kinema.compute.Tensor;

/** The operands of one attention, as {@link io.kinema.compute.AttentionOps} has them. */
record AttentionCall(Tensor q, Tensor k, Tensor v, float scale, boolean causal, Tensor out) {

    AttentionShape shape() {
        return new AttentionShape(q.size(0), k.size(0), q.size(1), k.size(1), q.size(2), q.dtype(), out.dtype(), causal);
    }

    AttentionCall with(Tensor newQ, Tensor newK, Tensor newV, Tensor newOut) {
        return new AttentionCall(newQ, newK, newV, scale, causal, newOut);
    }
}

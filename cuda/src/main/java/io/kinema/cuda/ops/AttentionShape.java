package io.kinema.cuda.ops;

import io.kinema.weights.DType;

/**
 * What decides which kernel runs an attention.
 *
 * @param queries M
 * @param keys    N
 * @param headDim D
 * @param result  dtype of the output
 */
public record AttentionShape(int queries, int keys, int heads, int kvHeads, int headDim, DType operand, DType result, boolean causal) {
    @Override
    public String toString() {
        return queries + "x" + keys + ", " + heads + (kvHeads == heads ? "" : "/" + kvHeads) + " heads of " + headDim + ", " + operand + (causal ? ", causal" : "");
    }
}

package io.kinema.compute;

/** Scaled dot-product attention. */
public interface AttentionOps {
    /**
     * {@code out[m, h] = sum_n softmax_n(scale * q[m, h] . k[n, g]) v[n, g]} with g = h * kvHeads / heads.
     * Scores, softmax and accumulation are FP32 whatever the operands' dtype. (A backend that rounds probabilities to
     * 16 bits before the second product, as tensor-core kernels do, says so in its name.)
     *
     * @param q      [M, heads, D], F32, F16 or BF16; rows and heads may be strided
     * @param k      [N, kvHeads, D], same dtype; heads divisible by kvHeads
     * @param v      [N, kvHeads, D], same dtype
     * @param scale  multiplies every score
     * @param causal row m sees keys n <= m + (N - M)
     * @param out    [M, heads, D], F32, F16 or BF16
     */
    void attention(Tensor q, Tensor k, Tensor v, float scale, boolean causal, Tensor out);
}

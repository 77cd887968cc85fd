package io.kinema.compute;

/** Copies, gathers and blends. */
public interface MoveOps {
    /**
     * {@code dst = src} element by element; equal shapes, any strides (so it permutes, slices, concatenates and pads),
     * any two float dtypes (rounded to nearest even) or equal dtypes. Host to device and back included.
     */
    void copy(Tensor src, Tensor dst);

    /** Every element becomes {@code value}. Any float dtype, any strides. */
    void fill(Tensor dst, float value);

    /** {@code dst[m] = src[index[m]]}. src [R, D] any float dtype, index I32 [M], dst [M, D]; converts like {@link #copy}. */
    void gatherRows(Tensor src, Tensor index, Tensor dst);

    /** {@code dst[index[m]] = src[m]}; rows of dst not named keep their values; indices are distinct. */
    void scatterRows(Tensor src, Tensor index, Tensor dst);

    /**
     * Linear blend along axis {@code dim} of length n: {@code out = a * (1 - i / n) + b * (i / n)}, each factor, product and
     * the sum rounded in FP32.
     *
     * @param a   F32, last axis contiguous; b and out likewise
     * @param out same shape as a and b; may be either
     */
    void crossFade(Tensor a, Tensor b, int dim, Tensor out);
}

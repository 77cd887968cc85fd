package io.kinema.cuda.dnn;

/**
 * One scaled dot-product attention without mask; strides in elements, last axis contiguous.
 *
 * @param bf16 operands and output are BF16, else FP16
 */
public record SdpaShape(int queries, int keys, int heads, int kvHeads, int headDim, boolean bf16, Strides q, Strides k, Strides v, Strides out) {
    /** @param row from row to row, @param head from head to head */
    public record Strides(long row, long head) {
    }
}

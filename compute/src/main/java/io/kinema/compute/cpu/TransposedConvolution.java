package io.kinema.compute.cpu;

import io.kinema.compute.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * Transposed convolution by phases: the outputs q * stride + p of one phase p are an ordinary convolution with every
 * stride-th tap, {@code full[o, q * stride + p] = sum_{i, m} w[i, o, p + m * stride] x[i, q - m]}. All phases share the
 * patches of x, so one product with a matrix of stride * O rows gives them all.
 *
 * @param weights [(p, o), (i, m)] with zeros where p + m * stride reaches past the kernel
 */
record TransposedConvolution(MemorySegment weights, float[] bias, int inputs, int outputs, int taps, int stride, int padding) {
    private static final int PATCH_FLOATS = 1 << 16;
    private static final int UNIT = 16;

    /** Rearranges the weight [I, O, k] into {@code shared}'s first block. */
    static TransposedConvolution of(Tensor w, Optional<Tensor> bias, int stride, int padding, Scratch shared) {
        int inputs = w.size(0);
        int outputs = w.size(1);
        int kernel = w.size(2);
        int taps = Math.ceilDiv(kernel, stride);
        float[] source = w.toFloats();
        float[] arranged = new float[stride * outputs * inputs * taps];
        for (int i = 0; i < inputs; i++) {
            for (int o = 0; o < outputs; o++) {
                for (int j = 0; j < kernel; j++) {
                    int row = j % stride * outputs + o;
                    arranged[(row * inputs + i) * taps + j / stride] = source[(i * outputs + o) * kernel + j];
                }
            }
        }
        MemorySegment weights = shared.block(0, arranged.length);
        MemorySegment.copy(arranged, 0, weights, Rows.F32, 0, arranged.length);
        return new TransposedConvolution(weights, bias.map(Tensor::toFloats).orElseGet(() -> new float[outputs]), inputs, outputs, taps, stride, padding);
    }

    /** @param x [I, L], @param out [O, L'], both contiguous */
    void run(WorkerPool pool, Tensor x, Tensor out) {
        int length = x.size(1);
        int outLength = out.size(1);
        // Positions q whose outputs survive the cut: q * stride + p - padding in [0, outLength).
        int firstQ = padding / stride;
        int lastQ = (outLength - 1 + padding) / stride;
        int positions = lastQ - firstQ + 1;
        int each = Math.clamp(PATCH_FLOATS / (inputs * taps), UNIT, 2048) / UNIT * UNIT;
        pool.run(Math.ceilDiv(positions, each), (task, scratch) -> {
            int q = firstQ + task * each;
            int count = Math.min(each, lastQ + 1 - q);
            MemorySegment patch = scratch.block(0, (long) inputs * taps * count);
            writePatches(x, length, q, count, patch, scratch);
            int rows = stride * outputs;
            MemorySegment product = scratch.block(1, (long) rows * count);
            OpenBlas.sgemm(false, rows, count, inputs * taps, 1, weights, inputs * taps, patch, count, 0, product, count);
            interleave(product, q, count, out, outLength, scratch);
        });
    }

    private void writePatches(Tensor x, int length, int q, int count, MemorySegment patch, Scratch scratch) {
        int span = count + taps - 1;
        float[] source = scratch.floats(0, span);
        for (int i = 0; i < inputs; i++) {
            Edges.readZeroPadded(x.data(), (long) i * length, length, q - (taps - 1L), span, source);
            for (int m = 0; m < taps; m++) {
                MemorySegment.copy(source, taps - 1 - m, patch, Rows.F32, ((long) i * taps + m) * count * Float.BYTES, count);
            }
        }
    }

    /** Puts the phases of positions [q, q + count) side by side, adds the bias, drops what the padding cuts. */
    private void interleave(MemorySegment product, int q, int count, Tensor out, int outLength, Scratch scratch) {
        float[] phase = scratch.floats(0, count);
        float[] merged = scratch.floats(1, count * stride);
        int from = q * stride - padding;
        int skip = Math.max(0, -from);
        int n = Math.min(count * stride, outLength - from) - skip;
        for (int o = 0; o < outputs; o++) {
            for (int p = 0; p < stride; p++) {
                MemorySegment.copy(product, Rows.F32, ((long) p * outputs + o) * count * Float.BYTES, phase, 0, count);
                for (int i = 0; i < count; i++) {
                    merged[i * stride + p] = phase[i] + bias[o];
                }
            }
            MemorySegment.copy(merged, skip, out.data(), Rows.F32, ((long) o * outLength + from + skip) * Float.BYTES, n);
        }
    }
}

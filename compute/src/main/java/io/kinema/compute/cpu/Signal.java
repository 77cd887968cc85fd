package io.kinema.compute.cpu;

import io.kinema.compute.ConvolutionOps.Conv1d;
import io.kinema.compute.Tensor;
import java.lang.foreign.MemorySegment;

/** Patches of a padded signal [I, L]: input (i, j) of position p is {@code x[i, p * stride + j * dilation - padLeft]}. */
record Signal(Tensor x, Conv1d conv) implements PatchProduct.Patches {

    @Override
    public int inputs() {
        return conv.w().size(1) * conv.w().size(2);
    }

    @Override
    public long positions() {
        long room = x.shape().dim(1) + conv.padLeft() + conv.padRight() - (long) conv.dilation() * (conv.w().size(2) - 1) - 1;
        return room / conv.stride() + 1;
    }

    @Override
    public void write(long first, int count, MemorySegment to, Scratch scratch) {
        int taps = conv.w().size(2);
        int span = (count - 1) * conv.stride() + (taps - 1) * conv.dilation() + 1;
        float[] source = scratch.floats(0, span);
        float[] row = scratch.floats(1, count);
        long start = first * conv.stride() - conv.padLeft();
        for (int i = 0; i < x.size(0); i++) {
            Edges.readZeroPadded(x.data(), (long) i * x.size(1), x.size(1), start, span, source);
            for (int j = 0; j < taps; j++) {
                long at = ((long) i * taps + j) * count * Float.BYTES;
                int shift = j * conv.dilation();
                if (conv.stride() == 1) {
                    MemorySegment.copy(source, shift, to, Rows.F32, at, count);
                } else {
                    for (int p = 0; p < count; p++) {
                        row[p] = source[shift + p * conv.stride()];
                    }
                    MemorySegment.copy(row, 0, to, Rows.F32, at, count);
                }
            }
        }
    }
}

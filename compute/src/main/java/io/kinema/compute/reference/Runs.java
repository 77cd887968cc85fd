package io.kinema.compute.reference;

import io.kinema.compute.Tensor;
import java.util.function.LongConsumer;

/** Walks a strided tensor in row-major order as runs of neighbouring elements. */
final class Runs {
    private Runs() {
    }

    /** Elements in one run: the longest contiguous tail of axes, 1 where the last axis is strided. */
    static int length(Tensor t) {
        long run = 1;
        for (int i = t.rank() - 1; i >= firstInner(t); i--) {
            run *= t.shape().dim(i);
        }
        return Math.toIntExact(run);
    }

    /** Calls {@code each} with the element offset of every run, in row-major order. */
    static void forEach(Tensor t, LongConsumer each) {
        if (t.elements() > 0) {
            walk(t, 0, firstInner(t), 0, each);
        }
    }

    private static void walk(Tensor t, int axis, int inner, long offset, LongConsumer each) {
        if (axis == inner) {
            each.accept(offset);
            return;
        }
        for (long i = 0; i < t.shape().dim(axis); i++) {
            walk(t, axis + 1, inner, offset + i * t.stride(axis), each);
        }
    }

    /** The first axis of the contiguous tail. */
    private static int firstInner(Tensor t) {
        int axis = t.rank();
        long expected = 1;
        while (axis > 0 && (t.shape().dim(axis - 1) == 1 || t.stride(axis - 1) == expected)) {
            axis--;
            expected *= t.shape().dim(axis);
        }
        return axis;
    }
}

package io.kinema.compute.cpu;

import io.kinema.compute.Tensor;
import java.util.Arrays;

/** The joint walk over two views of one shape: an inner run, and outer axes that give each run its start in both. */
final class Walk {
    /** Elements of a run, and its steps in both views. */
    final long inner;
    final long fromStride;
    final long toStride;
    /** Number of runs. */
    final long outer;
    private final long[] sizes;
    private final long[] fromStrides;
    private final long[] toStrides;

    private Walk(long[] sizes, long[] fromStrides, long[] toStrides, int axes) {
        int last = axes - 1;
        this.inner = sizes[last];
        this.fromStride = fromStrides[last];
        this.toStride = toStrides[last];
        this.sizes = Arrays.copyOf(sizes, last);
        this.fromStrides = Arrays.copyOf(fromStrides, last);
        this.toStrides = Arrays.copyOf(toStrides, last);
        this.outer = Arrays.stream(this.sizes).reduce(1, (a, b) -> a * b);
    }

    static Walk of(Tensor from, Tensor to) {
        int rank = from.rank();
        long[] sizes = new long[rank + 1];
        long[] a = new long[rank + 1];
        long[] b = new long[rank + 1];
        int axes = 0;
        for (int i = 0; i < rank; i++) {
            long size = from.shape().dim(i);
            if (size == 1) {
                continue;
            }
            boolean regular = axes > 0 && a[axes - 1] == from.stride(i) * size && b[axes - 1] == to.stride(i) * size;
            if (regular) {
                sizes[axes - 1] *= size;
            } else {
                sizes[axes++] = size;
            }
            a[axes - 1] = from.stride(i);
            b[axes - 1] = to.stride(i);
        }
        if (axes == 0) {
            sizes[axes++] = 1;
        }
        return new Walk(sizes, a, b, axes);
    }

    /** Starts at run {@code run}; used by one thread. */
    Cursor cursor(long run) {
        return new Cursor(run);
    }

    /** Where one run after the other starts in both views. Steps by additions: runs can be as short as a few elements. */
    final class Cursor {
        private final long[] index = new long[sizes.length];
        private long from;
        private long to;

        private Cursor(long run) {
            long rest = run;
            for (int i = sizes.length - 1; i >= 0; i--) {
                index[i] = rest % sizes[i];
                rest /= sizes[i];
                from += index[i] * fromStrides[i];
                to += index[i] * toStrides[i];
            }
        }

        /** Element offset of the run in the first view. */
        long from() {
            return from;
        }

        /** Element offset of the run in the second view. */
        long to() {
            return to;
        }

        /** On to the next run; after the last it starts over. */
        void advance() {
            for (int i = sizes.length - 1; i >= 0; i--) {
                from += fromStrides[i];
                to += toStrides[i];
                if (++index[i] < sizes[i]) {
                    return;
                }
                from -= sizes[i] * fromStrides[i];
                to -= sizes[i] * toStrides[i];
                index[i] = 0;
            }
        }
    }
}

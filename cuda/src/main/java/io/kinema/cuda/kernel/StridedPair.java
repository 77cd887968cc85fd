package io.kinema.cuda.kernel;

import io.kinema.compute.Tensor;
import java.util.Arrays;
import java.util.Optional;

/**
 * Axes of two equally shaped strided views, outermost first, with those that are neighbours in both merged and those of
 * size 1 left out.
 *
 * @param sizes per axis
 * @param a     element strides of the first view
 * @param b     element strides of the second
 */
public record StridedPair(long[] sizes, long[] a, long[] b) {
    /** Axes that a kernel takes. */
    public static final int MOST_AXES = 6;

    public static StridedPair of(Tensor x, Tensor y) {
        long[] sizes = new long[x.rank()];
        long[] a = new long[x.rank()];
        long[] b = new long[x.rank()];
        int axes = 0;
        for (int i = 0; i < x.rank(); i++) {
            long size = x.shape().dim(i);
            if (size == 1) {
                continue;
            }
            if (axes > 0 && a[axes - 1] == x.stride(i) * size && b[axes - 1] == y.stride(i) * size) {
                sizes[axes - 1] *= size;
                a[axes - 1] = x.stride(i);
                b[axes - 1] = y.stride(i);
            } else {
                sizes[axes] = size;
                a[axes] = x.stride(i);
                b[axes++] = y.stride(i);
            }
        }
        return new StridedPair(Arrays.copyOf(sizes, axes), Arrays.copyOf(a, axes), Arrays.copyOf(b, axes));
    }

    /** The same in pieces of {@code count} neighbouring elements, if both views consist of such pieces at multiples of their length. */
    public Optional<StridedPair> pieces(int count) {
        int last = axes() - 1;
        if (last < 0 || a[last] != 1 || b[last] != 1 || sizes[last] % count != 0) {
            return Optional.empty();
        }
        long[] fewer = sizes.clone();
        long[] fromSteps = a.clone();
        long[] toSteps = b.clone();
        fewer[last] /= count;
        for (int i = 0; i < last; i++) {
            if (a[i] % count != 0 || b[i] % count != 0) {
                return Optional.empty();
            }
            fromSteps[i] /= count;
            toSteps[i] /= count;
        }
        return Optional.of(new StridedPair(fewer, fromSteps, toSteps));
    }

    public int axes() {
        return sizes.length;
    }

    /** Sizes, strides of the first and of the second view, each filled up in front to {@link #MOST_AXES} axes. */
    public long[] packed() {
        long[] packed = new long[3 * MOST_AXES];
        Arrays.fill(packed, 0, MOST_AXES, 1);
        int skip = MOST_AXES - sizes.length;
        System.arraycopy(sizes, 0, packed, skip, sizes.length);
        System.arraycopy(a, 0, packed, MOST_AXES + skip, sizes.length);
        System.arraycopy(b, 0, packed, 2 * MOST_AXES + skip, sizes.length);
        return packed;
    }
}

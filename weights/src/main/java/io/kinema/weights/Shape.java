package io.kinema.weights;

import java.util.Arrays;

/**
 * The sizes of a tensor's axes, outermost first; immutable, compared by value.
 * A shape with no axes is a scalar of one element; a size of 0 makes an empty tensor.
 */
public final class Shape {
    private final long[] dims;

    private Shape(long[] dims) {
        this.dims = dims;
    }

    /** @throws IllegalArgumentException when a size is negative or the element count passes 2^62 */
    public static Shape of(long... dims) {
        long count = 1;
        for (long d : dims) {
            if (d < 0) {
                throw new IllegalArgumentException("shape " + Arrays.toString(dims) + ": got a negative size, expected sizes >= 0");
            }
            if (d != 0 && count > (1L << 62) / d) {
                throw new IllegalArgumentException("shape " + Arrays.toString(dims) + ": element count passes 2^62");
            }
            count *= d;
        }
        return new Shape(dims.clone());
    }

    /** Number of axes. */
    public int rank() {
        return dims.length;
    }

    /** Size of axis {@code i}; a negative {@code i} counts from the end. */
    public long dim(int i) {
        return dims[i < 0 ? dims.length + i : i];
    }

    /** {@link #dim(int)} as an int. @throws ArithmeticException when it does not fit */
    public int size(int i) {
        return Math.toIntExact(dim(i));
    }

    /** Product of all sizes. */
    public long elements() {
        long n = 1;
        for (long d : dims) {
            n *= d;
        }
        return n;
    }

    /** A copy of the sizes. */
    public long[] toArray() {
        return dims.clone();
    }

    @Override
    public boolean equals(Object o) {
        return o instanceof Shape s && Arrays.equals(dims, s.dims);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(dims);
    }

    @Override
    public String toString() {
        return Arrays.toString(dims);
    }
}

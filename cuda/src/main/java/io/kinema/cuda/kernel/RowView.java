package io.kinema.cuda.kernel;

import io.kinema.compute.Tensor;
import java.util.Optional;

/**
 * A strided tensor as rows along its contiguous last axis: row r begins at element
 * {@code (r / count) * outer + (r % count) * inner}.
 *
 * @param address of the first element
 * @param count   rows of the inner axis
 * @param rows    all rows
 * @param width   elements of a row
 */
public record RowView(long address, long outer, long inner, int count, long rows, long width) {

    /** A contiguous tensor as one row. */
    public static RowView flat(Tensor t) {
        return new RowView(t.data().address(), 0, 0, 1, 1, t.elements());
    }

    /** The rows of a tensor whose leading axes collapse to at most two, else empty. */
    public static Optional<RowView> of(Tensor t) {
        long address = t.data().address();
        if (t.rank() == 0) {
            return Optional.of(new RowView(address, 0, 0, 1, 1, 1));
        }
        long width = t.shape().dim(-1);
        if (width > 1 && t.stride(-1) != 1) {
            return Optional.empty();
        }
        long[] sizes = new long[t.rank()];
        long[] strides = new long[t.rank()];
        int axes = 0;
        for (int i = 0; i < t.rank() - 1; i++) {
            long size = t.shape().dim(i);
            if (size == 1) {
                continue;
            }
            if (axes > 0 && strides[axes - 1] == t.stride(i) * size) {
                sizes[axes - 1] *= size;
                strides[axes - 1] = t.stride(i);
            } else {
                sizes[axes] = size;
                strides[axes++] = t.stride(i);
            }
        }
        return switch (axes) {
            case 0 -> Optional.of(new RowView(address, 0, 0, 1, 1, width));
            case 1 -> Optional.of(new RowView(address, strides[0], 0, 1, sizes[0], width));
            case 2 -> Optional.of(new RowView(address, strides[0], strides[1], Math.toIntExact(sizes[1]), sizes[0] * sizes[1], width));
            default -> Optional.empty();
        };
    }
}

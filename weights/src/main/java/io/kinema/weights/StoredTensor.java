package io.kinema.weights;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Objects;

/**
 * One tensor as it lies in a file: contiguous, row-major, little-endian, usually a read-only view of a memory map.
 * The view belongs to the {@link TensorSource} it came from and dies when that is closed.
 *
 * @param name  name in the file
 * @param dtype element type
 * @param shape sizes, outermost first
 * @param data  exactly {@code shape.elements() * dtype.bytes()} bytes; not necessarily aligned to the element size
 * @param file  the file it came from, for messages
 */
public record StoredTensor(String name, DType dtype, Shape shape, MemorySegment data, Path file) {
    public StoredTensor {
        if (data.byteSize() != shape.elements() * dtype.bytes()) {
            throw new IllegalArgumentException(name + ": got " + data.byteSize() + " bytes, expected "
                    + shape.elements() * dtype.bytes() + " for " + dtype + shape);
        }
    }

    /** Rows {@code [from, to)} along the first axis, as a view. @throws IndexOutOfBoundsException when it has fewer rows, or is a scalar */
    public StoredTensor rows(long from, long to) {
        long count = shape.rank() == 0 ? 0 : shape.dim(0);
        Objects.checkFromToIndex(from, to, count);
        long rowBytes = count == 0 ? 0 : data.byteSize() / count;
        long[] dims = shape.toArray();
        dims[0] = to - from;
        return new StoredTensor(name, dtype, Shape.of(dims), data.asSlice(from * rowBytes, (to - from) * rowBytes), file);
    }
}

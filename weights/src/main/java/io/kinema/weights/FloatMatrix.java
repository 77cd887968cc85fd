package io.kinema.weights;

import java.nio.file.Path;
import java.util.OptionalInt;

/**
 * A matrix of plain floats.
 *
 * @param tensor F64, F32, F16 or BF16 [rows, columns]
 */
public record FloatMatrix(StoredTensor tensor) implements StoredMatrix {
    public FloatMatrix {
        if (tensor.shape().rank() != 2 || !tensor.dtype().floating()) {
            throw new IllegalArgumentException("matrix " + tensor.name() + ": got " + tensor.dtype() + tensor.shape() + ", expected two axes of a float dtype");
        }
    }

    @Override
    public String name() {
        return tensor.name();
    }

    @Override
    public Path file() {
        return tensor.file();
    }

    @Override
    public long rows() {
        return tensor.shape().dim(0);
    }

    @Override
    public long columns() {
        return tensor.shape().dim(1);
    }

    @Override
    public FloatMatrix rows(long from, long to) {
        return new FloatMatrix(tensor.rows(from, to));
    }

    @Override
    public long bytes() {
        return tensor.data().byteSize();
    }

    @Override
    public OptionalInt rotation() {
        return OptionalInt.empty();
    }

    @Override
    public String encoding() {
        return tensor.dtype().name();
    }
}

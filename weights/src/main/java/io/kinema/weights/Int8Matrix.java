package io.kinema.weights;

import java.nio.file.Path;
import java.util.OptionalInt;

/**
 * A matrix of 8-bit integers with one scale for each row: {@code w[n, k] = values[n, k] * scales[n]}.
 *
 * @param values   I8 [rows, columns]
 * @param scales   F32 [rows] or [rows, 1]
 * @param rotation width of the rotated groups of columns, see {@link StoredMatrix#rotation()}
 */
public record Int8Matrix(StoredTensor values, StoredTensor scales, OptionalInt rotation) implements StoredMatrix {
    public Int8Matrix {
        if (values.shape().rank() != 2 || values.dtype() != DType.I8) {
            throw new IllegalArgumentException("matrix " + values.name() + ": got " + values.dtype() + values.shape() + ", expected two axes of I8");
        }
        if (scales.dtype() != DType.F32 || scales.shape().elements() != values.shape().dim(0)) {
            throw new IllegalArgumentException("scales " + scales.name() + ": got " + scales.dtype() + scales.shape()
                    + ", expected F32, one for each of " + values.shape().dim(0) + " rows");
        }
    }

    @Override
    public String name() {
        return values.name();
    }

    @Override
    public Path file() {
        return values.file();
    }

    @Override
    public long rows() {
        return values.shape().dim(0);
    }

    @Override
    public long columns() {
        return values.shape().dim(1);
    }

    @Override
    public Int8Matrix rows(long from, long to) {
        return new Int8Matrix(values.rows(from, to), scales.rows(from, to), rotation);
    }

    @Override
    public long bytes() {
        return values.data().byteSize() + scales.data().byteSize();
    }

    @Override
    public String encoding() {
        return "INT8" + (rotation.isPresent() ? " rotated by " + rotation.getAsInt() : "");
    }
}

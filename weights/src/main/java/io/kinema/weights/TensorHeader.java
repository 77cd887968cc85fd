package io.kinema.weights;

import java.nio.file.Path;
import java.util.Optional;

/**
 * What a file says about one tensor before its data is touched.
 *
 * @param name     in the source
 * @param shape    sizes, outermost first
 * @param dtype    of plain elements; empty where values are coded
 * @param encoding for a person: {@code BF16}, {@code Q4_K}, {@code INT8 rotated by 256}
 * @param bytes    in the file, scales included
 * @param readable whether its values can be read by this version
 * @param file     that holds it
 */
public record TensorHeader(String name, Shape shape, Optional<DType> dtype, String encoding, long bytes, boolean readable, Path file) {
    /** Of a plain tensor. */
    public static TensorHeader of(StoredTensor tensor) {
        return new TensorHeader(tensor.name(), tensor.shape(), Optional.of(tensor.dtype()), tensor.dtype().name(), tensor.data().byteSize(), true, tensor.file());
    }

    /** Of an encoded matrix. */
    public static TensorHeader of(StoredMatrix matrix) {
        return new TensorHeader(matrix.name(), Shape.of(matrix.rows(), matrix.columns()), Optional.empty(), matrix.encoding(), matrix.bytes(), true, matrix.file());
    }

    /** True where its values are real numbers, in whatever encoding. */
    public boolean floating() {
        return dtype.map(DType::floating).orElse(true);
    }

    /** The same under another name and with other sizes. */
    public TensorHeader as(String otherName, Shape otherShape) {
        long part = shape.elements() == 0 ? 0 : bytes / Math.max(1, shape.elements() / Math.max(1, otherShape.elements()));
        return new TensorHeader(otherName, otherShape, dtype, encoding, part, readable, file);
    }
}

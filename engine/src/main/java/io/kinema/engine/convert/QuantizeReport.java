package io.kinema.engine.convert;

import io.kinema.engine.convert.ConversionReport.Written;
import io.kinema.weights.Shape;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/**
 * What was written.
 *
 * @param file     the file
 * @param matrices those that were coded, by name
 * @param metadata strings in its header
 * @param ranks    numbers of ranks that can share it
 * @param shared   the largest limit on groups with which every number of ranks could that can share the transformer; empty when they can as it is
 */
public record QuantizeReport(Written file, List<Matrix> matrices, Map<String, String> metadata, List<Integer> ranks, OptionalInt shared) {
    /**
     * One coded matrix.
     *
     * @param name       in the file
     * @param shape      [rows, columns]
     * @param group      columns rotated together; empty for none
     * @param relativeL2 norm of the error over the norm of the matrix
     */
    public record Matrix(String name, Shape shape, OptionalInt group, double relativeL2) {
    }
}

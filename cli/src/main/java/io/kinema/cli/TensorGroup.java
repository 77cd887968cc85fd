package io.kinema.cli;

import io.kinema.engine.inspect.ComponentReport.TensorReport;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Tensors whose names differ only in layer numbers and whose dtype and shape are alike: one line instead of fifty.
 *
 * @param pattern the name with {@code *} for each number
 * @param type    dtype and shape
 * @param count   how many there are
 */
record TensorGroup(String pattern, String type, int count) {
    /** Groups in the order in which their first tensors stand. */
    static List<TensorGroup> of(List<TensorReport> tensors) {
        Map<String, TensorGroup> groups = new LinkedHashMap<>();
        for (TensorReport tensor : tensors) {
            String pattern = tensor.name().replaceAll("(?<=^|\\.)\\d+(?=\\.|$)", "*");
            String type = tensor.dtype() + " " + tensor.shape();
            groups.merge(pattern + " " + type, new TensorGroup(pattern, type, 1), TensorGroup::plus);
        }
        return List.copyOf(groups.values());
    }

    private TensorGroup plus(TensorGroup other) {
        return new TensorGroup(pattern, type, count + other.count);
    }

    @Override
    public String toString() {
        return String.format("%-64s %s%s", pattern, type, count == 1 ? "" : "  x" + count);
    }
}

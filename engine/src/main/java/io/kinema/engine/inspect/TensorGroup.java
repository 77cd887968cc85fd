package io.kinema.engine.inspect;

import io.kinema.engine.inspect.ComponentReport.TensorReport;
import io.kinema.weights.Shape;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * Tensors that differ only by the number of their layer.
 *
 * @param pattern name with {@code *} for each numbered part
 * @param encoding of all of them
 * @param shape   of all of them
 * @param count   how many there are
 */
public record TensorGroup(String pattern, String encoding, Shape shape, int count) {
    private static final Pattern NUMBERED = Pattern.compile("(?<=^|\\.)\\d+(?=\\.|$)");

    private record Key(String pattern, String encoding, Shape shape) {
    }

    /** Groups in the order of their first tensors. */
    public static List<TensorGroup> of(List<TensorReport> tensors) {
        Map<Key, Integer> counts = new LinkedHashMap<>();
        tensors.forEach(t -> counts.merge(new Key(NUMBERED.matcher(t.name()).replaceAll("*"), t.encoding(), t.shape()), 1, Integer::sum));
        return counts.entrySet().stream().map(e -> new TensorGroup(e.getKey().pattern(), e.getKey().encoding(), e.getKey().shape(), e.getValue())).toList();
    }

    /** Elements of all of them. */
    public long parameters() {
        return count * shape.elements();
    }
}

package io.kinema.engine.model;

import io.kinema.weights.StoredMatrix;
import io.kinema.weights.TensorHeader;
import io.kinema.weights.TensorSource;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * How a checkpoint's matrices are stored, from its headers, scales and markers.
 *
 * @param names   of the encodings, for a person, the one with the most values first: {@code INT8 rotated by 256}, {@code BF16}
 * @param rotated whether any matrix wants its input rotated
 */
public record WeightEncodings(List<String> names, boolean rotated) {
    public WeightEncodings {
        names = List.copyOf(names);
    }

    /** @param stored a checkpoint under its own names, so that nothing is copied to look at it */
    public static WeightEncodings of(TensorSource stored) {
        Map<String, Long> values = new TreeMap<>();
        boolean rotated = false;
        for (String name : stored.names()) {
            TensorHeader header = stored.header(name).orElseThrow();
            if (header.shape().rank() == 2) {
                values.merge(header.encoding(), header.shape().elements(), Long::sum);
                rotated |= header.dtype().isEmpty() && header.readable() && rotated(stored.matrix(name));
            }
        }
        return new WeightEncodings(values.entrySet().stream().sorted(Map.Entry.<String, Long>comparingByValue(Comparator.reverseOrder()))
                .map(Map.Entry::getKey).toList(), rotated);
    }

    private static boolean rotated(StoredMatrix matrix) {
        return matrix.rotation().isPresent();
    }
}

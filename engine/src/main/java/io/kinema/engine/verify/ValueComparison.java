package io.kinema.engine.verify;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;

/** Compares plain values leaf by leaf: exactly, but means (fields called {@code *means} or {@code *mean}) to 1e-5. */
final class ValueComparison {
    static final double MEAN_LIMIT = 1e-5;

    private final List<String> differences = new ArrayList<>();
    private boolean means;
    private double worstMean;

    private ValueComparison() {
    }

    static ValueComparison of(JsonNode got, JsonNode expected) {
        ValueComparison comparison = new ValueComparison();
        comparison.compare("", got, expected, false);
        return comparison;
    }

    /** Leaves that differ and are no means. */
    int different() {
        return differences.size();
    }

    /** The first difference, empty when there is none. */
    String first() {
        return differences.isEmpty() ? "" : differences.getFirst();
    }

    /** Largest distance of two means, empty when there are none. */
    OptionalDouble worstMean() {
        return means ? OptionalDouble.of(worstMean) : OptionalDouble.empty();
    }

    private void compare(String path, JsonNode got, JsonNode expected, boolean mean) {
        if (expected.isObject() && got.isObject()) {
            expected.properties().forEach(e -> compare(path + "." + e.getKey(), got.path(e.getKey()), e.getValue(),
                    e.getKey().endsWith("means") || e.getKey().endsWith("mean")));
        } else if (expected.isArray() && got.isArray()) {
            if (expected.size() != got.size()) {
                differences.add(path + ": got " + got.size() + " values, expected " + expected.size());
                return;
            }
            for (int i = 0; i < expected.size(); i++) {
                compare(path + "[" + i + "]", got.get(i), expected.get(i), mean);
            }
        } else if (mean && got.isNumber() && expected.isNumber()) {
            means = true;
            double distance = Math.abs(got.asDouble() - expected.asDouble());
            worstMean = Math.max(worstMean, Double.isNaN(distance) ? Double.POSITIVE_INFINITY : distance);
        } else if (!sameLeaf(got, expected)) {
            differences.add(path + ": got " + got + ", expected " + expected);
        }
    }

    private static boolean sameLeaf(JsonNode got, JsonNode expected) {
        if (got.isNumber() && expected.isNumber()) {
            return got.asDouble() == expected.asDouble();
        }
        if (got.isNumber() && expected.isTextual() && expected.asText().contains("0x")) {
            // Exact numbers are written as C99 hex floats, which Java reads.
            return got.asDouble() == Double.parseDouble(expected.asText());
        }
        return expected.isNull() ? got.isNull() || got.isMissingNode() : got.equals(expected);
    }
}

package io.kinema.model.adapter;

import java.util.Optional;

/** The strength a low-rank adapter was trained with: its delta is multiplied by alpha / rank. */
public sealed interface Alpha {
    /** Alpha follows the rank, so the factor is 1. */
    Alpha RANK = new OfRank();

    /** A number. @throws IllegalArgumentException unless it is finite and above 0 */
    static Alpha of(double value) {
        return new Value(value);
    }

    /** A number, or {@code rank}; empty when it is neither. */
    static Optional<Alpha> parse(String text) {
        if (text.equals("rank")) {
            return Optional.of(RANK);
        }
        try {
            double value = Double.parseDouble(text);
            return value > 0 && Double.isFinite(value) ? Optional.of(of(value)) : Optional.empty();
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }

    /** What multiplies the delta of a pair of this rank. */
    double factor(int rank);

    /** Alpha as a number. */
    record Value(double value) implements Alpha {
        public Value {
            if (!(value > 0 && Double.isFinite(value))) {
                throw new IllegalArgumentException("alpha: got " + value + ", expected a number above 0");
            }
        }

        @Override
        public double factor(int rank) {
            return value / rank;
        }

        @Override
        public String toString() {
            return value == Math.rint(value) && value < 1e9 ? Long.toString((long) value) : Double.toString(value);
        }
    }

    /** Alpha equal to the rank. */
    record OfRank() implements Alpha {
        @Override
        public double factor(int rank) {
            return 1;
        }

        @Override
        public String toString() {
            return "rank";
        }
    }
}

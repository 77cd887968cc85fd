package io.kinema.engine.verify;

import java.util.Arrays;
import java.util.Optional;

/** How far a computed tensor is from the expected one. A value that is not finite where the other is gives infinity. */
enum Metric {
    /** Number of elements that differ; NaN equals NaN. */
    EXACT("exact") {
        @Override
        double measure(Values got, Values expected) {
            int different = 0;
            for (int i = 0; i < expected.count(); i++) {
                different += same(got.at(i), expected.at(i)) ? 0 : 1;
            }
            return different;
        }
    },
    /** Largest absolute difference. */
    ABS("abs") {
        @Override
        double measure(Values got, Values expected) {
            double worst = 0;
            for (int i = 0; i < expected.count(); i++) {
                worst = Math.max(worst, distance(got.at(i), expected.at(i)));
            }
            return worst;
        }
    },
    /** ||got - expected|| / ||expected|| over the whole tensor; 0 when both are zero. */
    REL_L2("rel_l2") {
        @Override
        double measure(Values got, Values expected) {
            double difference = 0;
            double norm = 0;
            for (int i = 0; i < expected.count(); i++) {
                double d = distance(got.at(i), expected.at(i));
                difference += d * d;
                norm += same(got.at(i), expected.at(i)) && !Double.isFinite(expected.at(i)) ? 0 : expected.at(i) * expected.at(i);
            }
            if (difference == 0) {
                return 0;
            }
            double relative = Math.sqrt(difference) / Math.sqrt(norm);
            return Double.isNaN(relative) ? Double.POSITIVE_INFINITY : relative;
        }
    },
    /** Largest difference of bytes. */
    U8_LEVELS("u8_levels") {
        @Override
        double measure(Values got, Values expected) {
            return ABS.measure(got, expected);
        }
    };

    private final String label;

    Metric(String label) {
        this.label = label;
    }

    /** The name in case files. */
    String label() {
        return label;
    }

    /** @param got and expected of the same element count */
    abstract double measure(Values got, Values expected);

    static Optional<Metric> labelled(String label) {
        return Arrays.stream(values()).filter(m -> m.label.equals(label)).findFirst();
    }

    private static boolean same(double a, double b) {
        return a == b || Double.isNaN(a) && Double.isNaN(b);
    }

    private static double distance(double a, double b) {
        double d = same(a, b) ? 0 : Math.abs(a - b);
        return Double.isNaN(d) ? Double.POSITIVE_INFINITY : d;
    }
}

package io.kinema.measure.bench;

import java.util.Locale;

/**
 * Why runs are no measurement at all.
 *
 * @param rule   which rule they break
 * @param reason one line
 */
public record Rejection(Rule rule, String reason) {
    /** The rules. */
    public enum Rule {
        /** Something observed or slowed the process. */
        PROFILED,
        /** Intermediates were looked at. */
        CAPTURED,
        /** A run, a rank or a step is missing. */
        INCOMPLETE,
        /** Not one warm-up and then measured requests, one after the other in one engine. */
        PROTOCOL,
        /** The runs are not of one configuration. */
        MIXED,
        /** Numbers that contradict one another. */
        INCONSISTENT;

        /** The name in reports: {@code profiled}. */
        public String key() {
            return name().toLowerCase(Locale.ROOT);
        }
    }
}

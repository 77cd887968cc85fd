package io.kinema.engine.verify;

import java.util.List;

/**
 * Totals of a verification.
 *
 * @param cases  cases found
 * @param checks checks run
 * @param lines  results told: expectations compared, and one for each case or check that could not be
 * @param misses results that are no pass
 */
public record VerifyReport(int cases, int checks, int lines, int misses) {
    static final VerifyReport EMPTY = new VerifyReport(0, 0, 0, 0);

    /** True when nothing missed. */
    public boolean ok() {
        return misses == 0;
    }

    VerifyReport plusCase() {
        return new VerifyReport(cases + 1, checks, lines, misses);
    }

    VerifyReport plusUnreadableCase() {
        return new VerifyReport(cases + 1, checks, lines + 1, misses + 1);
    }

    VerifyReport plusCheck(List<CheckResult> results) {
        int missed = (int) results.stream().filter(r -> !r.ok()).count();
        return new VerifyReport(cases, checks + 1, lines + results.size(), misses + missed);
    }
}

package io.kinema.jobs;

import java.time.Duration;
import java.util.Objects;

/**
 * How much a store takes.
 *
 * @param queued         waiting jobs, at least 1
 * @param queuedPerOwner waiting jobs of one owner, at least 1
 * @param keep           how long a finished job and its files stay
 */
public record JobLimits(int queued, int queuedPerOwner, Duration keep) {
    public JobLimits {
        Objects.requireNonNull(keep, "keep");
        if (queued < 1 || queuedPerOwner < 1 || keep.isNegative() || keep.isZero()) {
            throw new IllegalArgumentException("job limits: got " + queued + " queued, " + queuedPerOwner + " per owner, kept " + keep
                    + ", expected numbers above 0");
        }
    }

    /** 32 waiting jobs, of anybody, and a week. */
    public static JobLimits defaults() {
        return new JobLimits(32, 32, Duration.ofDays(7));
    }
}

package io.kinema.jobs;

import java.time.Duration;

/** When to try a full queue again. */
public final class RetryAfter {
    private static final long LEAST_SECONDS = 1;
    private static final long MOST_SECONDS = 3600;

    private RetryAfter() {
    }

    /** The time that one job takes, in whole seconds from 1 to 3600: then one place is free. @param mean of the last jobs, zero when unknown */
    public static Duration of(Duration mean) {
        long seconds = (mean.toMillis() + 999) / 1000;
        return Duration.ofSeconds(Math.clamp(seconds, LEAST_SECONDS, MOST_SECONDS));
    }
}

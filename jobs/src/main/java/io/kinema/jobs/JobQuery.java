package io.kinema.jobs;

import java.util.Objects;
import java.util.Optional;

/**
 * Which jobs to list. Unlisted ones never appear.
 *
 * @param owner only this owner's; everybody's when empty
 * @param order by the time when they were recorded
 * @param after the last job of the page before
 * @param limit 1 to 100
 */
public record JobQuery(Optional<String> owner, Order order, Optional<JobId> after, int limit) {
    /** Most jobs on a page. */
    public static final int MOST = 100;

    /** Which comes first. */
    public enum Order { OLDEST_FIRST, NEWEST_FIRST }

    /** @throws IllegalArgumentException when the limit is another number */
    public JobQuery {
        Objects.requireNonNull(owner, "owner");
        Objects.requireNonNull(order, "order");
        Objects.requireNonNull(after, "after");
        if (limit < 1 || limit > MOST) {
            throw new IllegalArgumentException("limit: got " + limit + ", expected 1 to " + MOST);
        }
    }

    /** Everybody's newest. */
    public static JobQuery newest(int limit) {
        return new JobQuery(Optional.empty(), Order.NEWEST_FIRST, Optional.empty(), limit);
    }
}

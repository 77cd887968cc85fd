package io.kinema.jobs;

import java.util.Map;

/**
 * How many jobs there are in each state, listed or not.
 *
 * @param byState every state is a key
 */
public record QueueCounts(Map<JobState, Long> byState) {
    public QueueCounts {
        byState = Map.copyOf(byState);
    }

    /** Jobs in this state. */
    public long of(JobState state) {
        return byState.getOrDefault(state, 0L);
    }
}

package io.kinema.jobs;

import java.time.Duration;

/** The queue, or one owner's share of it, holds no more jobs at the moment. Nothing was recorded. */
public final class QueueFullException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** Whose queue is full. */
    public enum Scope { ALL, OWNER }

    private final Scope scope;
    private final Duration retryAfter;

    public QueueFullException(Scope scope, int limit, Duration retryAfter) {
        super(switch (scope) {
            case ALL -> "queue: " + limit + " jobs are waiting, which is all it takes; try again in " + retryAfter.toSeconds() + " s";
            case OWNER -> "queue: " + limit + " jobs of this key are waiting, which is all it may have; try again in " + retryAfter.toSeconds() + " s";
        });
        this.scope = scope;
        this.retryAfter = retryAfter;
    }

    public Scope scope() {
        return scope;
    }

    /** When a place is likely to be free: whole seconds, 1 to 3600, from how long the last jobs took. */
    public Duration retryAfter() {
        return retryAfter;
    }
}

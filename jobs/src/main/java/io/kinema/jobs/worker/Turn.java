package io.kinema.jobs.worker;

/** What a job needs after a worker had it. */
public enum Turn {
    /** Nothing more. */
    OVER,
    /** Another attempt at once, before any job that was recorded later: its engine died. */
    RETRY,
    /** Its place in the queue: this worker cannot make it now. */
    WAITS
}

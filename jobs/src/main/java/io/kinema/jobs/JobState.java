package io.kinema.jobs;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/**
 * Where a job stands. A job is {@link #IN_PROGRESS} only while a worker works on it: a waiting one is {@link #QUEUED}, also
 * when it waits again after its worker was lost.
 */
public enum JobState {
    /** Waits for a worker. */
    QUEUED,
    /** A worker works on it. */
    IN_PROGRESS,
    /** All its outputs are stored. */
    COMPLETED,
    /** It ended with an error; asking again for the same thing may help only where {@link JobError} says so. */
    FAILED,
    /** It was cancelled, and nothing computes for it any more. */
    CANCELLED,
    /** The engine process died on it twice; it is kept for inspection and never tried again. */
    QUARANTINED;

    /** The name in databases, JSON and logs: {@code in_progress}. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The state with this label, or empty. */
    public static Optional<JobState> labelled(String label) {
        return Arrays.stream(values()).filter(s -> s.label().equals(label)).findFirst();
    }

    /** True when it will never change again. */
    public boolean finished() {
        return switch (this) {
            case QUEUED, IN_PROGRESS -> false;
            case COMPLETED, FAILED, CANCELLED, QUARANTINED -> true;
        };
    }
}

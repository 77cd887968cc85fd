package io.kinema.jobs;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * A job as it stood at one moment.
 *
 * @param id            its name
 * @param state         where it stands
 * @param request       what it makes
 * @param owner         whose it is: a name for the key that submitted it, never the key itself
 * @param listed        whether lists show it
 * @param remixedFrom   the job that it was made from
 * @param createdAt     when it was recorded
 * @param startedAt     when a worker first began on it
 * @param finishedAt    when it reached a finished state
 * @param keep          how long it and its files stay once it is finished; then, what is left of that
 * @param expiresAt     when they may be removed; set once it is finished
 * @param updatedAt     when any of this last changed
 * @param revision      counts the changes from 1; a larger one is newer
 * @param attempts      how often workers have tried it
 * @param cancelling    a cancel was asked for and the device is not idle yet
 * @param progress      how far it is
 * @param outputs       those that are stored, in order
 * @param error         why it has no result
 */
public record Job(JobId id, JobState state, JobRequest request, Optional<String> owner, boolean listed, Optional<JobId> remixedFrom,
                  Instant createdAt, Optional<Instant> startedAt, Optional<Instant> finishedAt, Duration keep, Optional<Instant> expiresAt,
                  Instant updatedAt, long revision, Attempts attempts, boolean cancelling, JobProgress progress, List<JobOutput> outputs,
                  Optional<JobError> error) {
    public Job {
        Objects.requireNonNull(id, "id");
        Objects.requireNonNull(state, "state");
        Objects.requireNonNull(request, "request");
        Objects.requireNonNull(owner, "owner");
        Objects.requireNonNull(remixedFrom, "remixedFrom");
        Objects.requireNonNull(createdAt, "createdAt");
        Objects.requireNonNull(startedAt, "startedAt");
        Objects.requireNonNull(finishedAt, "finishedAt");
        Objects.requireNonNull(keep, "keep");
        Objects.requireNonNull(expiresAt, "expiresAt");
        Objects.requireNonNull(updatedAt, "updatedAt");
        Objects.requireNonNull(attempts, "attempts");
        Objects.requireNonNull(progress, "progress");
        outputs = List.copyOf(outputs);
        Objects.requireNonNull(error, "error");
    }

    /** The output with this index, when it is stored. */
    public Optional<JobOutput> output(int index) {
        return outputs.stream().filter(o -> o.index() == index).findFirst();
    }
}

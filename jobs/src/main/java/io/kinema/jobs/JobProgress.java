package io.kinema.jobs;

import java.time.Instant;
import java.util.Objects;

/**
 * How far a job is, as measured: nothing here is an estimate. All counts are of the present attempt, which may have begun
 * where an earlier one stopped ({@code resumedAtStep}).
 *
 * @param stage          what is being done
 * @param stageStartedAt since when
 * @param output         which output, 0 to {@code outputs - 1}
 * @param outputs        how many were asked for
 * @param step           model evaluations of this output that are done; 0 before the first
 * @param steps          model evaluations that this output needs; 0 until the engine has said so
 * @param resumedAtStep  evaluations of this output that were taken over from an earlier attempt; 0 when none were
 */
public record JobProgress(JobStage stage, Instant stageStartedAt, int output, int outputs, int step, int steps, int resumedAtStep) {
    public JobProgress {
        Objects.requireNonNull(stage, "stage");
        Objects.requireNonNull(stageStartedAt, "stageStartedAt");
    }

    /** A job that waits. */
    public static JobProgress queued(Instant since, int outputs) {
        return new JobProgress(JobStage.QUEUED, since, 0, outputs, 0, 0, 0);
    }

    /** The same counts in another stage. */
    public JobProgress at(JobStage next, Instant since) {
        return new JobProgress(next, since, output, outputs, step, steps, resumedAtStep);
    }
}

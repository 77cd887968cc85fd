package io.kinema.jobs;

/**
 * What became of a submission.
 *
 * @param job      recorded, and there after a power cut
 * @param repeated true when the idempotency key was known, so that this is the job of the first submission
 */
public record Submitted(Job job, boolean repeated) {
}

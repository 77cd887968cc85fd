/**
 * Jobs that survive a crash: their store, the worker processes that run them, and where results lie.
 *
 * <p>Who submits and watches jobs uses {@link io.kinema.jobs.JobStore}; who runs them {@link io.kinema.jobs.WorkQueue}; both keep
 * files in an {@link io.kinema.jobs.storage.OutputStorage}. {@link io.kinema.jobs.JobService} opens all of it for {@code kinema
 * serve}. {@link io.kinema.jobs.JobTransitions} holds the rules by which a job changes.
 *
 * <p>From HTTP to here:
 * <ul>
 * <li>create: files of the upload lie in temporary files; {@code GenerateRequest} names them; the engine's resolver accepts it;
 *     {@code submit(Submission.of(model, request).owner(key).idempotencyKey(header).details(json))} copies the files and records the
 *     job; then the temporary files may go. {@link io.kinema.jobs.QueueFullException} is 429 with its {@code retryAfter},
 *     {@link io.kinema.jobs.IdempotencyConflictException} 422, {@link io.kinema.jobs.StoreUnavailableException} and
 *     {@link io.kinema.jobs.storage.StorageException} 503.
 * <li>events: {@code await(id, revision, 15 s)} in a loop on a virtual thread; the revision is the event's id.
 * <li>content: {@code job.output(k)}, its {@link io.kinema.jobs.OutputFile}, then {@code storage.read(key, from, bytes)}.
 * <li>remix: {@code JobInputs.fetch(job, storage, temporaryFolder)} gives the request with files, change its prompt, submit it with
 *     {@code remixedFrom(id)}.
 * <li>sync: submit {@code unlisted()}, await, send, delete.
 * </ul>
 *
 * <p>For tests: {@link io.kinema.jobs.memory.InMemoryJobs} with a {@link io.kinema.jobs.storage.FolderStorage} on a temporary folder;
 * the test plays the worker: {@code begin}, {@code progress}, {@code output}, {@code complete}.
 */
package io.kinema.jobs;

package io.kinema.jobs;

import io.kinema.engine.GenerateRequest;
import java.util.Objects;
import java.util.Optional;

/**
 * A job to be. Made with {@link #of}.
 *
 * @param model          name of the model that must make it
 * @param generate       the request, with files on this machine; {@link JobStore#submit} copies them to the storage, so they may go
 *                       once it has returned
 * @param details        JSON object to be kept with the job ({@link JobRequest#details})
 * @param owner          whose it is; limits are counted for each owner, and for all jobs without one together
 * @param idempotencyKey the same key of the same owner gives the same job as long as that exists
 * @param listed         whether lists show it
 * @param remixedFrom    the job that it was made from
 */
public record Submission(String model, GenerateRequest generate, String details, Optional<String> owner,
                         Optional<String> idempotencyKey, boolean listed, Optional<JobId> remixedFrom) {
    /** Longest owner and idempotency key, in characters. */
    public static final int LONGEST_KEY = 255;

    public Submission {
        Objects.requireNonNull(model, "model");
        Objects.requireNonNull(generate, "generate");
        Objects.requireNonNull(details, "details");
        requireShort("owner", owner);
        requireShort("idempotency key", idempotencyKey);
        Objects.requireNonNull(remixedFrom, "remixedFrom");
    }

    private static void requireShort(String name, Optional<String> text) {
        if (text.isPresent() && (text.get().isEmpty() || text.get().length() > LONGEST_KEY)) {
            throw new IllegalArgumentException(name + ": got " + text.get().length() + " characters, expected 1 to " + LONGEST_KEY);
        }
    }

    /** A listed job of nobody in particular. */
    public static Submission of(String model, GenerateRequest generate) {
        return new Submission(model, generate, "{}", Optional.empty(), Optional.empty(), true, Optional.empty());
    }

    public Submission details(String json) {
        return new Submission(model, generate, json, owner, idempotencyKey, listed, remixedFrom);
    }

    public Submission owner(String name) {
        return new Submission(model, generate, details, Optional.of(name), idempotencyKey, listed, remixedFrom);
    }

    public Submission idempotencyKey(String key) {
        return new Submission(model, generate, details, owner, Optional.of(key), listed, remixedFrom);
    }

    /** Keeps the job out of lists. */
    public Submission unlisted() {
        return new Submission(model, generate, details, owner, idempotencyKey, false, remixedFrom);
    }

    public Submission remixedFrom(JobId id) {
        return new Submission(model, generate, details, owner, idempotencyKey, listed, Optional.of(id));
    }
}

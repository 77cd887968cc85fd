package io.kinema.jobs;

/** An idempotency key came again with another request. Nothing was recorded. */
public final class IdempotencyConflictException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public IdempotencyConflictException() {
        super("idempotency key: it was used before for another request; send the same request or a new key");
    }
}

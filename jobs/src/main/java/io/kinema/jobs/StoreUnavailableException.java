package io.kinema.jobs;

/** The job store cannot be reached at the moment: what was asked for may or may not have happened. */
public final class StoreUnavailableException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public StoreUnavailableException(String what, Throwable cause) {
        super("job store: " + what + " failed because the database does not answer; try again in a moment", cause);
    }
}

package io.kinema.jobs;

/** A job is named that does not exist, or no longer. */
public final class UnknownJobException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final JobId id;

    public UnknownJobException(JobId id) {
        super("job: there is no " + id + "; it may have been deleted or have expired");
        this.id = id;
    }

    public JobId id() {
        return id;
    }
}

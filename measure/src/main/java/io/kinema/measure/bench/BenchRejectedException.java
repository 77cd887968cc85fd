package io.kinema.measure.bench;

/** A bench was not begun, because its numbers would mean nothing. The message is one line. */
public final class BenchRejectedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient Rejection rejection;

    BenchRejectedException(Rejection rejection) {
        super("rejected as " + rejection.rule().key() + ": " + rejection.reason());
        this.rejection = rejection;
    }

    /** Which rule, and why. */
    public Rejection rejection() {
        return rejection;
    }
}

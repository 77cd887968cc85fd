package io.kinema.cli;

/** What the process tells its caller. */
final class ExitCode {
    static final int DONE = 0;
    static final int FAILED = 1;
    static final int BAD_INPUT = 2;
    static final int INTERRUPTED = 130;

    private ExitCode() {
    }
}

package io.kinema.cli;

import io.kinema.jobs.StoreUnavailableException;
import io.kinema.jobs.storage.StorageException;
import io.kinema.serve.problem.FailureLog;
import java.util.Arrays;
import java.util.stream.Collectors;

/** Prints what fails in the server: where, but not what was asked for, which a message of an exception could repeat. */
final class FailurePrinter implements FailureLog {
    private static final int FRAMES = 12;
    private final Terminal terminal;

    FailurePrinter(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public void failure(String name, Throwable failure) {
        String known = failure instanceof StorageException || failure instanceof StoreUnavailableException ? ": " + failure.getMessage() : "";
        terminal.err().println("serve: " + (name.isEmpty() ? "" : name + ": ") + failure.getClass().getName() + known + causes(failure));
        if (!name.isEmpty()) {
            terminal.err().println(Arrays.stream(failure.getStackTrace()).limit(FRAMES).map(frame -> "    at " + frame).collect(Collectors.joining("\n")));
        }
    }

    private static String causes(Throwable failure) {
        StringBuilder text = new StringBuilder();
        for (Throwable cause = failure.getCause(); cause != null && text.length() < 400; cause = cause.getCause()) {
            text.append(" < ").append(cause.getClass().getName());
        }
        return text.toString();
    }
}

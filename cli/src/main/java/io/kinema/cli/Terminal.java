package io.kinema.cli;

import java.io.PrintStream;
import java.io.PrintWriter;

/**
 * Where a command talks to its user.
 *
 * @param out         results
 * @param err         progress, notes and errors
 * @param interactive a person watches {@code err}, so a line may be rewritten
 */
record Terminal(PrintStream out, PrintStream err, boolean interactive) {
    /** The streams of this process. The launcher says whether standard error is a terminal; Java itself cannot tell. */
    static Terminal ofProcess() {
        return new Terminal(ResultStream.ofProcess(), System.err, Boolean.getBoolean("kinema.terminal"));
    }

    PrintWriter outWriter() {
        return new PrintWriter(out, true);
    }

    PrintWriter errWriter() {
        return new PrintWriter(err, true);
    }

    /** A result line. */
    void print(String line) {
        out.println(line);
    }
}

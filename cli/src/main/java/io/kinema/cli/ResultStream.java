package io.kinema.cli;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.util.Locale;

/**
 * The process's standard output as a stream that tells a reader who has seen enough, as {@code head} has, from an output that takes
 * nothing, as a full disk does: the first is silence, the second a failure that {@link PrintStream#checkError} reports.
 */
final class ResultStream extends OutputStream {
    private final OutputStream to;

    ResultStream(OutputStream to) {
        this.to = to;
    }

    static PrintStream ofProcess() {
        return new PrintStream(new ResultStream(new FileOutputStream(FileDescriptor.out)), false, System.out.charset());
    }

    @Override
    public void write(int b) throws IOException {
        write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        try {
            to.write(bytes, offset, length);
        } catch (IOException failure) {
            if (!String.valueOf(failure.getMessage()).toLowerCase(Locale.ROOT).contains("broken pipe")) {
                throw failure;
            }
        }
    }

    @Override
    public void flush() throws IOException {
        to.flush();
    }
}

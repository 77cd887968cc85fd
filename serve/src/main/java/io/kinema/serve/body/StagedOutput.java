package io.kinema.serve.body;

import io.kinema.serve.problem.Problem;
import io.kinema.serve.problem.ProblemKind;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Owns a file of a {@link Staging} folder while it is written, until it is closed; closing twice is harmless. That it cannot be written is this
 * server's trouble, and is told apart from a client or another server that breaks off.
 */
public final class StagedOutput extends FilterOutputStream {
    private static final int RETRY_SECONDS = 60;

    private StagedOutput(OutputStream file) {
        super(file);
    }

    /** Makes a file anew. @throws Problem when that cannot be */
    public static StagedOutput to(Path file) {
        try {
            return new StagedOutput(Files.newOutputStream(file));
        } catch (IOException full) {
            throw noRoom();
        }
    }

    @Override
    public void write(int octet) {
        write(new byte[] {(byte) octet}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) {
        try {
            out.write(bytes, offset, length);
        } catch (IOException full) {
            throw noRoom();
        }
    }

    @Override
    public void close() {
        try {
            out.close();
        } catch (IOException full) {
            throw noRoom();
        }
    }

    static Problem noRoom() {
        return Problem.of(ProblemKind.UNAVAILABLE, "the server has no room for uploads at the moment; try again later").retryAfter(RETRY_SECONDS);
    }
}

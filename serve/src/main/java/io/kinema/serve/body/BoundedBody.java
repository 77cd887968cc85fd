package io.kinema.serve.body;

import io.kinema.serve.problem.Problem;
import io.kinema.serve.problem.ProblemKind;
import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Owns a place among the large bodies, once it needs one, until it is closed; closing twice is harmless. Reads a request body that
 * may be neither larger nor slower than allowed.
 */
final class BoundedBody extends InputStream {
    private static final int WAIT_SECONDS = 5;

    private final InputStream body;
    private final BodyLimits limits;
    private final long mostBytes;
    private final Semaphore largePlaces;
    private final long start = System.nanoTime();
    private long count;
    private boolean large;

    /** @param declared the Content-Length, -1 when there is none */
    BoundedBody(InputStream body, long declared, long mostBytes, BodyLimits limits, Semaphore largePlaces) {
        this.body = body;
        this.limits = limits;
        this.mostBytes = mostBytes;
        this.largePlaces = largePlaces;
        if (declared > mostBytes) {
            throw tooLarge();
        }
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
        int read;
        try {
            read = body.read(target, offset, length);
        } catch (IOException e) {
            // The connection's idle timeout, or a client that went away: nobody may be there to hear it.
            throw Problem.of(ProblemKind.TOO_SLOW, "body: it broke off after " + count + " bytes, expected it whole and without pauses");
        }
        if (read > 0) {
            count += read;
            check();
        }
        return read;
    }

    private void check() {
        if (count > mostBytes) {
            throw tooLarge();
        }
        long allowed = limits.patience().toNanos() + TimeUnit.SECONDS.toNanos(1) * (count / limits.bytesPerSecond());
        if (System.nanoTime() - start > allowed) {
            throw Problem.of(ProblemKind.TOO_SLOW, "body: got " + count + " bytes in " + (System.nanoTime() - start) / 1_000_000_000L
                    + " s, expected at least " + limits.bytesPerSecond() + " a second");
        }
        if (!large && count > BodyLimits.LARGE) {
            takePlace();
        }
    }

    private void takePlace() {
        try {
            large = largePlaces.tryAcquire(WAIT_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (!large) {
            throw Problem.of(ProblemKind.BUSY, "body: " + limits.largeAtOnce() + " large uploads come in already, expected to be one of "
                    + "fewer; try again").retryAfter(WAIT_SECONDS);
        }
    }

    private Problem tooLarge() {
        return Problem.sentence(ProblemKind.TOO_LARGE, "body", "body: got more than " + mostBytes + " bytes, expected at most that many");
    }

    @Override
    public void close() {
        if (large) {
            large = false;
            largePlaces.release();
        }
    }
}

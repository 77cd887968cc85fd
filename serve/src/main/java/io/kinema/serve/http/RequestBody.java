package io.kinema.serve.http;

import io.javalin.http.Context;
import io.kinema.serve.body.BodyLimits;
import java.io.IOException;
import java.io.InputStream;

/** A request's body. Whatever is left of it when a request is refused is taken from the client, and thrown away. */
public final class RequestBody extends InputStream {
    private static final String BEGUN = "kinema.body.begun";
    private static final int PIECE = 16 << 10;

    private final Context call;

    private RequestBody(Context call) {
        this.call = call;
    }

    /** The body; the first read lets a client that waits for "100 Continue" send it. */
    public static InputStream of(Context call) {
        return new RequestBody(call);
    }

    @Override
    public int read() throws IOException {
        return begun().read();
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
        return begun().read(target, offset, length);
    }

    private InputStream begun() throws IOException {
        call.attribute(BEGUN, true);
        return call.req().getInputStream();
    }

    /** Whether the client may be sending still. */
    static boolean mayBeUnderWay(Context call) {
        boolean some = call.req().getContentLengthLong() > 0 || call.header("Transfer-Encoding") != null;
        boolean waits = call.header("Expect") != null && call.attribute(BEGUN) == null;
        return some && !waits;
    }

    /**
     * Reads and forgets the rest, so that the answer, which is on its way already, reaches a client that sends its whole body before it looks: a
     * connection closed over bytes that nobody has read is reset, and takes the answer with it. Ends with the body, after as many bytes as
     * the largest body may have, or after the time in which a body must come.
     */
    static void discard(Context call, BodyLimits limits) {
        byte[] piece = new byte[PIECE];
        long start = System.nanoTime();
        try {
            InputStream body = call.req().getInputStream();
            long left = limits.multipartBytes();
            for (int read = body.read(piece); read >= 0; read = body.read(piece)) {
                left -= read;
                if (left < 0 || System.nanoTime() - start > limits.patience().toNanos()) {
                    return;
                }
            }
        } catch (IOException gone) {
            // Whoever was to hear the answer has left, or says nothing for too long.
        }
    }
}

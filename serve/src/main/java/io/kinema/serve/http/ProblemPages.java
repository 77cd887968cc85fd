package io.kinema.serve.http;

import io.kinema.serve.problem.Problem;
import io.kinema.serve.problem.ProblemKind;
import java.nio.ByteBuffer;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.handler.ErrorHandler;
import org.eclipse.jetty.util.Callback;

/** What the server below the routes answers to requests that never reach one: broken HTTP, headers too large, odd addresses. */
public final class ProblemPages extends ErrorHandler {
    @Override
    protected void generateResponse(Request request, Response response, int code, String message, Throwable cause, Callback callback) {
        response.getHeaders().put(HttpHeader.CONTENT_TYPE, "application/problem+json").put("X-Content-Type-Options", "nosniff")
                .put(HttpHeader.CACHE_CONTROL, "no-store");
        response.write(true, ByteBuffer.wrap(body(code)), callback);
    }

    @Override
    public ByteBuffer badMessageError(int status, String reason, HttpFields.Mutable fields) {
        fields.put(HttpHeader.CONTENT_TYPE, "application/problem+json");
        return ByteBuffer.wrap(body(status));
    }

    private static byte[] body(int status) {
        ProblemKind kind = ProblemKind.ofStatus(status);
        var document = Problem.of(kind, kind.status() < 500 ? "request: got HTTP that cannot be read, expected a well-formed request with headers of at most 16 KiB"
                : "the server cannot answer at the moment; try again").toJson();
        return Answers.bytes(document.put("status", status));
    }
}

package io.kinema.serve.http;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.javalin.http.Context;
import io.kinema.serve.body.BodyLimits;
import io.kinema.serve.problem.Problem;
import io.kinema.serve.problem.ProblemKind;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** Writes JSON answers. */
public final class Answers {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private Answers() {
    }

    /** A JSON document. */
    public static void json(Context call, int status, JsonNode document) {
        call.status(status).contentType("application/json").result(bytes(document));
    }

    /** A problem document. It is sent before what the client may still be sending has been read. */
    public static void problem(Context call, Problem problem, BodyLimits limits) {
        problem.retryAfter().ifPresent(seconds -> call.header("Retry-After", Integer.toString(seconds)));
        if (problem.kind().status() == 401) {
            call.header("WWW-Authenticate", "Bearer");
        }
        if (problem.kind().status() == 408 || problem.kind().status() == 413) {
            // What is left of the body may be more than is worth reading.
            call.header("Connection", "close");
        }
        call.status(problem.kind().status()).contentType("application/problem+json");
        byte[] document = bytes(problem.toJson());
        // A client that was too slow has had its time.
        if (problem.kind() != ProblemKind.TOO_SLOW && RequestBody.mayBeUnderWay(call) && sent(call, document)) {
            RequestBody.discard(call, limits);
        } else {
            call.result(document);
        }
    }

    private static boolean sent(Context call, byte[] document) {
        HttpServletResponse response = call.res();
        response.setContentLength(document.length);
        try {
            response.getOutputStream().write(document);
            response.flushBuffer();
            return true;
        } catch (IOException gone) {
            return false;
        }
    }

    /** The document's UTF-8. */
    public static byte[] bytes(JsonNode document) {
        try {
            return MAPPER.writeValueAsString(document).getBytes(StandardCharsets.UTF_8);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a tree is always written", e);
        }
    }
}

package io.kinema.serve.http;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.javalin.http.Context;
import io.kinema.serve.problem.Problem;
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

    /** A problem document. */
    public static void problem(Context call, Problem problem) {
        problem.retryAfter().ifPresent(seconds -> call.header("Retry-After", Integer.toString(seconds)));
        if (problem.kind().status() == 401) {
            call.header("WWW-Authenticate", "Bearer");
        }
        if (problem.kind().status() == 408 || problem.kind().status() == 413) {
            // What is left of the body is not worth reading.
            call.header("Connection", "close");
        }
        call.status(problem.kind().status()).contentType("application/problem+json").result(bytes(problem.toJson()));
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

package io.kinema.serve.body;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.serve.problem.Problem;
import io.kinema.serve.problem.ProblemKind;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URLDecoder;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.concurrent.Semaphore;
import java.util.function.Function;
import org.eclipse.jetty.http.MultiPart;

/** Reads a body of any of the three content types into one tree; the files of a multipart body stand in it as {@link Upload}s. */
public final class BodyReader {
    private static final int LONGEST_BOUNDARY = 70;

    private final BodyLimits limits;
    private final Function<String, FieldKind> kinds;
    private final Semaphore largePlaces;

    /** @param kinds how the fields of forms are read */
    public BodyReader(BodyLimits limits, Function<String, FieldKind> kinds) {
        this.limits = limits;
        this.kinds = kinds;
        this.largePlaces = new Semaphore(limits.largeAtOnce());
    }

    /**
     * Reads the body.
     *
     * @param contentType the header, empty when there is none
     * @param declared    the Content-Length, -1 when there is none
     * @param staging     where files go
     * @throws Problem when it is malformed, too large or too slow
     */
    public ObjectNode read(String contentType, long declared, InputStream body, Staging staging) {
        int semicolon = contentType.indexOf(';');
        String type = (semicolon < 0 ? contentType : contentType.substring(0, semicolon)).strip().toLowerCase(Locale.ROOT);
        long most = switch (type) {
            case "application/json" -> limits.jsonBytes();
            case "application/x-www-form-urlencoded" -> limits.formBytes();
            case "multipart/form-data" -> limits.multipartBytes();
            default -> throw Problem.field(ProblemKind.UNSUPPORTED_TYPE, "content-type", type.isEmpty() ? "none" : "'" + type + "'",
                    "expected application/json, multipart/form-data or application/x-www-form-urlencoded");
        };
        try (BoundedBody bounded = new BoundedBody(body, declared, most, limits, largePlaces)) {
            return switch (type) {
                case "application/json" -> object(StrictJson.read(bounded));
                case "multipart/form-data" -> multipart(contentType, bounded, staging);
                default -> urlencoded(bounded);
            };
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static ObjectNode object(JsonNode tree) {
        if (tree instanceof ObjectNode fields) {
            return fields;
        }
        throw Problem.of(ProblemKind.MALFORMED, "body: got JSON that is no object, expected one like {\"prompt\": \"...\"}");
    }

    private ObjectNode multipart(String contentType, InputStream body, Staging staging) throws IOException {
        String boundary = boundary(contentType);
        if (boundary == null || boundary.isEmpty() || boundary.length() > LONGEST_BOUNDARY || !boundary.chars().allMatch(c -> c >= ' ' && c < 0x7f)) {
            throw Problem.field(ProblemKind.MALFORMED, "content-type", "multipart/form-data without a usable boundary", "expected one of 1 to 70 characters");
        }
        try (MultipartReader reader = new MultipartReader(boundary, new FormFields(kinds, limits), limits, staging)) {
            return reader.read(body);
        }
    }

    private static String boundary(String contentType) {
        try {
            return MultiPart.extractBoundary(contentType);
        } catch (IllegalArgumentException brokenQuotes) {
            return "";
        }
    }

    private ObjectNode urlencoded(InputStream body) throws IOException {
        FormFields fields = new FormFields(kinds, limits);
        String text;
        try {
            text = StandardCharsets.US_ASCII.newDecoder().decode(ByteBuffer.wrap(body.readAllBytes())).toString();
        } catch (CharacterCodingException e) {
            throw Problem.of(ProblemKind.MALFORMED, "body: got letters beyond ASCII, expected them as percent signs");
        }
        for (String pair : text.split("&")) {
            if (!pair.isEmpty()) {
                int equals = pair.indexOf('=');
                fields.add(decoded(equals < 0 ? pair : pair.substring(0, equals)), equals < 0 ? "" : decoded(pair.substring(equals + 1)));
            }
        }
        return fields.tree();
    }

    private static String decoded(String text) {
        try {
            return URLDecoder.decode(text, StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            throw Problem.of(ProblemKind.MALFORMED, "body: got a broken percent sign, expected %20 and the like");
        }
    }
}

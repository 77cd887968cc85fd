package io.kinema.serve.body;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.kinema.serve.problem.Problem;
import io.kinema.serve.problem.ProblemKind;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/** JSON from outside: a tree of bounded depth and numbers, no key twice, nothing after it. */
public final class StrictJson {
    private static final int MOST_DEPTH = 24;
    private static final int LONGEST_NUMBER = 64;
    private static final int LONGEST_NAME = 128;
    private static final ObjectMapper MAPPER = new ObjectMapper(JsonFactory.builder()
            .streamReadConstraints(StreamReadConstraints.builder().maxNestingDepth(MOST_DEPTH).maxNumberLength(LONGEST_NUMBER)
                    .maxNameLength(LONGEST_NAME).maxStringLength(Integer.MAX_VALUE).build())
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build())
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS);

    private StrictJson() {
    }

    /** One JSON value off a stream, in UTF-8 whatever it looks like (RFC 8259). @throws Problem when it is none */
    public static JsonNode read(InputStream body) throws IOException {
        // Without a decoder of ours, Jackson would guess at UTF-16 and UTF-32.
        try (Reader text = new InputStreamReader(body, StandardCharsets.UTF_8.newDecoder())) {
            JsonNode tree = MAPPER.readTree(text);
            if (tree == null || tree.isMissingNode()) {
                throw Problem.of(ProblemKind.MALFORMED, "body: got nothing, expected a JSON object");
            }
            return tree;
        } catch (JsonProcessingException e) {
            throw Problem.of(ProblemKind.MALFORMED, "body: got text that is no JSON" + place(e.getLocation()) + ", expected one JSON object without "
                    + "repeated keys");
        } catch (NumberFormatException e) {
            throw Problem.of(ProblemKind.MALFORMED, "body: got a number beyond all bounds, expected one of at most nine digits in its exponent");
        } catch (CharacterCodingException e) {
            throw Problem.of(ProblemKind.MALFORMED, "body: got bytes that are not UTF-8, expected JSON in UTF-8");
        }
    }

    /** One JSON value in a form field. @throws Problem when it is none */
    static JsonNode value(String text, String field) {
        try {
            return MAPPER.readTree(text);
        } catch (NumberFormatException e) {
            throw Problem.field(ProblemKind.MALFORMED, Problem.printable(field, 60), "a number beyond all bounds", "expected at most nine digits in its exponent");
        } catch (JsonProcessingException e) {
            throw Problem.field(ProblemKind.MALFORMED, Problem.printable(field, 60), "text that is no JSON" + place(e.getLocation()), "expected JSON");
        }
    }

    /** A number, true, false or null where the text is one; the text itself otherwise. */
    static JsonNode scalar(String text) {
        try {
            JsonNode node = MAPPER.readTree(text.strip());
            return node != null && node.isValueNode() ? node : JsonNodeFactory.instance.textNode(text);
        } catch (JsonProcessingException | NumberFormatException plain) {
            return JsonNodeFactory.instance.textNode(text);
        }
    }

    private static String place(JsonLocation at) {
        return at == null ? "" : " at line " + at.getLineNr() + ", column " + at.getColumnNr();
    }
}

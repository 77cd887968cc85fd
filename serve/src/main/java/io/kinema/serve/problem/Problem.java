package io.kinema.serve.problem;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * A refusal on its way to the client.
 *
 * <p>Its detail is one sentence: which field, what was got, what is allowed. It never shows a path, an address or a trace of the
 * server; whoever makes one sees to that.
 */
public final class Problem extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private static final int LONGEST_GOT = 120;
    private static final int LONGEST = 1000;

    private final ProblemKind kind;
    private final String field;
    private final int retryAfter;

    private Problem(ProblemKind kind, String field, String detail, int retryAfter) {
        super(printable(detail, LONGEST), null, false, false);
        this.kind = kind;
        this.field = field;
        this.retryAfter = retryAfter;
    }

    /** A problem with the request as a whole. */
    public static Problem of(ProblemKind kind, String detail) {
        return new Problem(kind, "", detail, 0);
    }

    /** A problem with one field: {@code FIELD: got GOT, expected ALLOWED}. What was got may be any text and is cut short. */
    public static Problem field(ProblemKind kind, String field, String got, String allowed) {
        return new Problem(kind, field, field + ": got " + printable(got, LONGEST_GOT) + ", " + allowed, 0);
    }

    /** {@link #field} of kind {@link ProblemKind#INVALID}. */
    public static Problem invalid(String field, String got, String allowed) {
        return field(ProblemKind.INVALID, field, got, allowed);
    }

    /** A problem with one field whose sentence is already whole. */
    public static Problem sentence(ProblemKind kind, String field, String detail) {
        return new Problem(kind, field, detail, 0);
    }

    /** The same problem, which may be gone after this many seconds. */
    public Problem retryAfter(int seconds) {
        return new Problem(kind, field, getMessage(), seconds);
    }

    public ProblemKind kind() {
        return kind;
    }

    /** The field at fault, where there is one. */
    public Optional<String> field() {
        return field.isEmpty() ? Optional.empty() : Optional.of(field);
    }

    /** Seconds for the {@code Retry-After} header, where trying again can help. */
    public OptionalInt retryAfter() {
        return retryAfter > 0 ? OptionalInt.of(retryAfter) : OptionalInt.empty();
    }

    /** The document of RFC 9457. The extension member {@code error} repeats it as OpenAI's clients read errors. */
    public ObjectNode toJson() {
        ObjectNode node = JsonNodeFactory.instance.objectNode().put("type", "about:blank").put("title", kind.title())
                .put("status", kind.status()).put("detail", getMessage()).put("code", kind.code());
        ObjectNode error = JsonNodeFactory.instance.objectNode().put("message", getMessage()).put("type", kind.code()).put("code", kind.code());
        if (field.isEmpty()) {
            error.putNull("param");
        } else {
            node.put("field", field);
            error.put("param", field);
        }
        node.set("error", error);
        return node;
    }

    /** Any text on one line that any terminal or log can show, of at most {@code longest} characters. */
    public static String printable(String text, int longest) {
        String shown = text.length() <= longest ? text : text.substring(0, longest) + "...";
        return shown.replaceAll("[\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}\\u202a-\\u202e\\u2066-\\u2069]", "?");
    }
}

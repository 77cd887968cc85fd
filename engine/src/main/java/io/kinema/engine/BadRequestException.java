package io.kinema.engine;

import java.nio.file.Path;

/**
 * A request asks for something this model or engine does not do. The message is one line: field, what it got, what is
 * allowed and what to do.
 */
public final class BadRequestException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private static final int LONGEST = 2000;

    private final String field;

    private BadRequestException(String field, String rest) {
        super(oneLine(field + ": " + rest));
        this.field = field;
    }

    /** @param field the request's field, as {@link GenerateRequest} calls it */
    public BadRequestException(String field, String got, String allowed) {
        this(field, "got " + got + ", " + allowed);
    }

    /** A refusal whose message says what was got and what is allowed. */
    public static BadRequestException saying(String field, String message) {
        return new BadRequestException(field, message);
    }

    /** What was got may be any text: no escape sequence must reach a terminal, nor a megabyte a log. */
    private static String oneLine(String message) {
        String shown = message.length() <= LONGEST ? message : message.substring(0, LONGEST) + "...";
        return shown.replaceAll("[\\p{Cc}\\p{Zl}\\p{Zp}\\u202a-\\u202e\\u2066-\\u2069]", "?");
    }

    /** The same refusal, naming the file that was at fault. */
    public BadRequestException in(Path file) {
        return new BadRequestException(field, "'" + file + "': " + getMessage().substring(field.length() + 2));
    }

    /** The field of {@link GenerateRequest} or {@link EngineOptions} at fault. */
    public String field() {
        return field;
    }
}

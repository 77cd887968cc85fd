package io.kinema.engine;

/**
 * A request asks for something this model or engine does not do. The message is one line: field, what it got, what is
 * allowed and what to do.
 */
public final class BadRequestException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String field;

    /** @param field the request's field, as {@link GenerateRequest} calls it */
    public BadRequestException(String field, String got, String allowed) {
        super(field + ": got " + got + ", " + allowed);
        this.field = field;
    }

    /** The field of {@link GenerateRequest} or {@link EngineOptions} at fault. */
    public String field() {
        return field;
    }
}

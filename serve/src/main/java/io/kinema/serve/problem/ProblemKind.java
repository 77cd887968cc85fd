package io.kinema.serve.problem;

/** The kinds of refusal, each with its HTTP status and a code that programs can compare. */
public enum ProblemKind {
    /** The body, the query or a header cannot be read at all. */
    MALFORMED(400, "Malformed request"),
    /** No bearer token, or not the server's. */
    UNAUTHORISED(401, "Authorisation required"),
    /** A browser page of another site, or a server-side path where none are allowed. */
    FORBIDDEN(403, "Forbidden"),
    /** No such job, output or route. */
    NOT_FOUND(404, "Not found"),
    /** The route is there, but not with this method. */
    METHOD_NOT_ALLOWED(405, "Method not allowed"),
    /** The client sent its request too slowly. */
    TOO_SLOW(408, "Request too slow"),
    /** The job is not in a state in which this can be done. */
    CONFLICT(409, "Conflict"),
    /** The job's files are past their time. */
    GONE(410, "Gone"),
    /** The body, a part or a fetched file is beyond its limit. */
    TOO_LARGE(413, "Too large"),
    /** A content type that this route does not read. */
    UNSUPPORTED_TYPE(415, "Unsupported content type"),
    /** A byte range beyond the file. */
    RANGE(416, "Range not satisfiable"),
    /** The Host header names another server. */
    MISDIRECTED(421, "Misdirected request"),
    /** The request can be read and breaks a rule. */
    INVALID(422, "Invalid request"),
    /** The queue is full, or this client has too much in it. */
    BUSY(429, "Too many requests"),
    /** Something failed that the client cannot mend. */
    FAILED(500, "Internal error"),
    /** The server starts, stops or lacks what it needs. */
    UNAVAILABLE(503, "Unavailable");

    private final int status;
    private final String title;

    ProblemKind(int status, String title) {
        this.status = status;
        this.title = title;
    }

    /** The HTTP status. */
    public int status() {
        return status;
    }

    /** A few words, the same for every problem of the kind. */
    public String title() {
        return title;
    }

    /** The machine-readable name: {@code too_large}. */
    public String code() {
        return name().toLowerCase(java.util.Locale.ROOT);
    }

    /** The kind with this status; {@link #MALFORMED} or {@link #FAILED} for one that has no kind of its own. */
    public static ProblemKind ofStatus(int status) {
        for (ProblemKind kind : values()) {
            if (kind.status == status) {
                return kind;
            }
        }
        return status < 500 ? MALFORMED : FAILED;
    }
}

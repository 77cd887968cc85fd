package io.kinema.serve.http;

import io.javalin.config.RoutesConfig;
import io.javalin.http.Context;
import io.javalin.http.HttpResponseException;
import io.kinema.jobs.IdempotencyConflictException;
import io.kinema.jobs.QueueFullException;
import io.kinema.jobs.StoreUnavailableException;
import io.kinema.jobs.UnknownJobException;
import io.kinema.jobs.storage.StorageException;
import io.kinema.serve.body.BodyLimits;
import io.kinema.serve.problem.FailureLog;
import io.kinema.serve.problem.Problem;
import io.kinema.serve.problem.ProblemKind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.ThreadLocalRandom;

/** Turns whatever a handler throws into a problem document. What the client cannot mend is told to the log, not to the client. */
public final class Problems {
    private static final int SOON_SECONDS = 2;
    private final FailureLog log;
    private final BodyLimits limits;

    /** @param limits of what refused clients may still send */
    public Problems(FailureLog log, BodyLimits limits) {
        this.log = log;
        this.limits = limits;
    }

    /** Takes every exception of these routes. */
    public void install(RoutesConfig routes) {
        routes.exception(Exception.class, this::answer);
        // Javalin has an answer of its own for these, which is not ours.
        routes.exception(HttpResponseException.class, this::answer);
    }

    private void answer(Exception failure, Context call) {
        if (call.res().isCommitted()) {
            return;
        }
        Answers.problem(call, of(failure), limits);
    }

    /** The problem that an exception is to a client. */
    public Problem of(Exception failure) {
        return switch (failure) {
            case Problem problem -> problem;
            case QueueFullException full -> Problem.of(ProblemKind.BUSY, full.getMessage()).retryAfter((int) full.retryAfter().toSeconds());
            case IdempotencyConflictException conflict -> Problem.sentence(ProblemKind.INVALID, "idempotency-key",
                    "idempotency-key: got one that was used for another request, expected a new key or the same request");
            case UnknownJobException unknown -> Problem.of(ProblemKind.NOT_FOUND, unknown.getMessage());
            case StoreUnavailableException away -> {
                log.failure("", away);
                yield Problem.of(ProblemKind.UNAVAILABLE, "the job store does not answer; try again in a moment").retryAfter(SOON_SECONDS);
            }
            case StorageException full -> {
                log.failure("", full);
                yield Problem.of(ProblemKind.UNAVAILABLE, "the storage does not take or give files at the moment; try again later").retryAfter(SOON_SECONDS);
            }
            case HttpResponseException http -> ofStatus(http.getStatus());
            default -> unexpected(failure);
        };
    }

    private static Problem ofStatus(int status) {
        ProblemKind kind = ProblemKind.ofStatus(status);
        return Problem.of(kind, switch (kind) {
            case NOT_FOUND -> "path: got one that leads nowhere, expected one of /openapi.json";
            case METHOD_NOT_ALLOWED -> "method: got one that this path does not know, expected one of /openapi.json";
            case TOO_LARGE -> "body: got more than this route takes, expected less";
            default -> "request: got one that cannot be read, expected HTTP as in /openapi.json";
        });
    }

    private Problem unexpected(Exception failure) {
        if (failure instanceof IOException || failure instanceof UncheckedIOException io && io.getCause() instanceof org.eclipse.jetty.io.EofException) {
            // The client has gone, or its body cannot be read to the end.
            return Problem.of(ProblemKind.MALFORMED, "body: it broke off, expected it whole");
        }
        String name = Long.toString(ThreadLocalRandom.current().nextLong() & Long.MAX_VALUE, 36);
        log.failure(name, failure);
        return Problem.of(ProblemKind.FAILED, "something failed on the server; its log tells more under " + name);
    }
}

package io.kinema.serve.api;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.javalin.http.Context;
import io.kinema.jobs.JobState;
import io.kinema.jobs.QueueCounts;
import io.kinema.jobs.StoreUnavailableException;
import io.kinema.jobs.WorkerStatus;
import io.kinema.serve.http.Answers;
import io.kinema.serve.http.Caller;
import java.util.Locale;
import java.util.Optional;

/** {@code /health}, {@code /health/live} and {@code /health/ready}. Open to everybody: they say nothing of anybody's jobs but how many wait. */
final class HealthRoutes {
    private static final int OK = 200;
    private static final int UNAVAILABLE = 503;

    private final Service service;
    private volatile boolean stopping;

    HealthRoutes(Service service) {
        this.service = service;
    }

    /** From now on it is not ready. */
    void stop() {
        stopping = true;
    }

    /** The process answers: nothing more is asked of it. */
    void live(Context call, Caller caller) {
        Answers.json(call, OK, JsonNodeFactory.instance.objectNode().put("status", "ok"));
    }

    /** A job that is submitted now would be recorded and run. */
    void ready(Context call, Caller caller) {
        WorkerStatus worker = service.queue().worker();
        Optional<QueueCounts> counts = counts();
        boolean ready = !stopping && worker.ready() && counts.isPresent();
        ObjectNode node = JsonNodeFactory.instance.objectNode().put("status", ready ? "ok" : "unavailable").put("model", service.offer().model())
                .put("worker", worker.state().name().toLowerCase(Locale.ROOT)).put("store", counts.isPresent() ? "ok" : "unavailable");
        counts.ifPresent(c -> node.put("queued", c.of(JobState.QUEUED)).put("in_progress", c.of(JobState.IN_PROGRESS)));
        Answers.json(call, ready ? OK : UNAVAILABLE, node);
    }

    private Optional<QueueCounts> counts() {
        try {
            return Optional.of(service.jobs().counts());
        } catch (StoreUnavailableException away) {
            return Optional.empty();
        }
    }
}

package io.kinema.serve.api;

import io.javalin.http.Context;
import io.kinema.jobs.JobState;
import io.kinema.jobs.QueueCounts;
import io.kinema.jobs.StoreUnavailableException;
import io.kinema.serve.http.Caller;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.jvm.ClassLoaderMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.FileDescriptorMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Owns the meters until it is closed; closing twice is harmless. Labels come from fixed lists only: routes, methods, states; never from
 * what a client wrote.
 */
public final class Counters implements AutoCloseable {
    private static final Duration[] BUCKETS = {Duration.ofMillis(1), Duration.ofMillis(2), Duration.ofMillis(5), Duration.ofMillis(10),
            Duration.ofMillis(20), Duration.ofMillis(50), Duration.ofMillis(100), Duration.ofMillis(250), Duration.ofSeconds(1), Duration.ofSeconds(5),
            Duration.ofSeconds(30)};
    private static final long KEEP_NANOS = Duration.ofSeconds(1).toNanos();

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final Counter submitted = Counter.builder("kinema.videos.submitted").description("Jobs recorded").register(registry);
    private final Counter repeated = Counter.builder("kinema.videos.repeated").description("Submissions answered with the job of their idempotency key")
            .register(registry);
    private final Service service;
    /** A scrape reads the state of every job once, not once for each gauge. */
    private final AtomicReference<Snapshot> last = new AtomicReference<>(new Snapshot(Map.of(), System.nanoTime() - KEEP_NANOS - 1));

    private record Snapshot(Map<JobState, Long> counts, long at) {
    }

    public Counters(Service service) {
        this.service = service;
        for (JobState state : JobState.values()) {
            Gauge.builder("kinema.jobs", this, counters -> counters.count(state)).tag("state", state.label()).description("Jobs in the store by state")
                    .register(registry);
        }
        Gauge.builder("kinema.ready", service, s -> s.queue().worker().ready() ? 1 : 0).description("1 when submitted jobs are run").register(registry);
        Gauge.builder("kinema.worker.restarts", service, s -> s.queue().worker().restarts()).description("Engine processes started again after a death")
                .register(registry);
        new JvmMemoryMetrics().bindTo(registry);
        new JvmThreadMetrics().bindTo(registry);
        new ClassLoaderMetrics().bindTo(registry);
        new ProcessorMetrics().bindTo(registry);
        new FileDescriptorMetrics().bindTo(registry);
        new UptimeMetrics().bindTo(registry);
    }

    private double count(JobState state) {
        Snapshot snapshot = last.get();
        if (System.nanoTime() - snapshot.at() > KEEP_NANOS) {
            try {
                QueueCounts counts = service.jobs().counts();
                snapshot = new Snapshot(counts.byState(), System.nanoTime());
                last.set(snapshot);
            } catch (StoreUnavailableException away) {
                return Double.NaN;
            }
        }
        return snapshot.counts().getOrDefault(state, 0L);
    }

    void submitted(boolean again) {
        (again ? repeated : submitted).increment();
    }

    /** A request was answered. @param route as the document writes it, with {@code {id}} */
    public void answered(String method, String route, int status, long nanos) {
        Timer.builder("http.server.requests").description("Time from a request's headers to the end of its answer").tag("method", method).tag("route", route)
                .tag("status", Integer.toString(status)).serviceLevelObjectives(BUCKETS).register(registry).record(Duration.ofNanos(nanos));
    }

    /** {@code GET /metrics}. */
    void scrape(Context call, Caller caller) {
        call.contentType("text/plain; version=0.0.4; charset=utf-8").result(registry.scrape());
    }

    @Override
    public void close() {
        registry.close();
    }
}

package io.kinema.engine.telemetry;

import io.kinema.engine.Progress;
import io.kinema.engine.ProgressListener;
import io.kinema.engine.Task;
import io.kinema.engine.record.RankRecord;
import io.kinema.engine.record.RunRecord;
import io.kinema.engine.record.StepRecord;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.Optional;

/**
 * Counts and times what an engine does in the embedder's Micrometer registry. Owns nothing. Tags are names of stages, tasks and outcomes
 * only; what people write never becomes one.
 *
 * <p>{@code kinema.requests} (task, outcome), {@code kinema.clips} (task), {@code kinema.stage} (stage), {@code kinema.step},
 * {@code kinema.useful.flops}, {@code kinema.kernel.compilations}, {@code kinema.fallbacks}.
 */
public final class EngineMetrics {
    /** How a request ended. */
    public enum Outcome { DONE, REFUSED, CANCELLED, FAILED }

    private final Optional<MeterRegistry> registry;

    private EngineMetrics(Optional<MeterRegistry> registry) {
        this.registry = registry;
    }

    /** Counts nothing. */
    public static EngineMetrics none() {
        return new EngineMetrics(Optional.empty());
    }

    public static EngineMetrics in(MeterRegistry registry) {
        return new EngineMetrics(Optional.of(registry));
    }

    /** Passes everything on to {@code listener} and times the stages on the way. */
    public ProgressListener watching(ProgressListener listener) {
        return registry.<ProgressListener>map(meters -> event -> {
            if (event instanceof Progress.StageFinished stage) {
                meters.timer("kinema.stage", "stage", stage.stage().key()).record(stage.elapsed());
            }
            listener.progress(event);
        }).orElse(listener);
    }

    /** A request ended. */
    public void request(Optional<Task> task, Outcome outcome) {
        registry.ifPresent(meters -> meters.counter("kinema.requests", "task", task.map(Task::label).orElse("unknown"),
                "outcome", outcome.name().toLowerCase(java.util.Locale.ROOT)).increment());
    }

    /** A clip was made. */
    public void clip(RunRecord run) {
        registry.ifPresent(meters -> {
            meters.counter("kinema.clips", "task", run.request().task().label()).increment();
            meters.counter("kinema.useful.flops").increment(run.usefulFlops());
            meters.counter("kinema.kernel.compilations").increment(run.kernelCompilations());
            meters.counter("kinema.fallbacks").increment(run.fallbacks().size());
            for (RankRecord rank : run.ranks()) {
                for (StepRecord step : rank.steps()) {
                    meters.timer("kinema.step", "rank", "" + rank.rank()).record(Duration.ofNanos(Math.round(step.seconds() * 1e9)));
                }
            }
        });
    }
}

package io.kinema.engine.pipeline;

import io.kinema.engine.Cancellation;
import io.kinema.engine.CancelledException;
import io.kinema.engine.Progress;
import io.kinema.engine.ProgressListener;
import io.kinema.engine.Stage;
import io.kinema.engine.record.StageTime;
import io.kinema.engine.telemetry.StageEvent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** Times the stages of one output, tells the listener, and looks at the cancellation. One thread. */
public final class Clock {
    private final ProgressListener listener;
    private final Cancellation cancellation;
    private final List<StageTime> stages = new ArrayList<>();

    public Clock(ProgressListener listener, Cancellation cancellation) {
        this.listener = listener;
        this.cancellation = cancellation;
    }

    /** Runs a stage between its two events and looks at the cancellation before and after it. */
    public <T> T stage(Stage stage, Supplier<T> work) {
        check(stage);
        listener.progress(new Progress.StageStarted(stage));
        long start = System.nanoTime();
        T result = StageEvent.around(stage, work);
        Duration elapsed = Duration.ofNanos(System.nanoTime() - start);
        add(stage, seconds(elapsed));
        listener.progress(new Progress.StageFinished(stage, elapsed));
        check(stage);
        return result;
    }

    /** A stage that runs in two parts counts once. */
    private void add(Stage stage, double seconds) {
        int earlier = stages.stream().map(StageTime::stage).toList().indexOf(stage);
        if (earlier < 0) {
            stages.add(new StageTime(stage, seconds));
        } else {
            stages.set(earlier, new StageTime(stage, stages.get(earlier).seconds() + seconds));
        }
    }

    /** @throws CancelledException when the request was cancelled, or its thread interrupted */
    public void check(Stage stage) {
        cancellation.check(stage);
        if (Thread.currentThread().isInterrupted()) {
            throw new CancelledException(stage);
        }
    }

    /** Passes an event on. */
    public void tell(Progress event) {
        listener.progress(event);
    }

    /** The stages finished so far, in order. */
    public List<StageTime> stages() {
        return List.copyOf(stages);
    }

    static double seconds(Duration duration) {
        return duration.toNanos() / 1e9;
    }
}

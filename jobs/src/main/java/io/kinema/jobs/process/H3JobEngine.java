package io.kinema.jobs.process;

import io.kinema.engine.Clip;
import io.kinema.engine.EngineOptions;
import io.kinema.engine.H3Engine;
import io.kinema.engine.Progress;
import io.kinema.engine.StepSaving;
import io.kinema.jobs.JobStage;
import java.util.function.Consumer;

/** Owns an {@link H3Engine}, which keeps its networks between jobs, until it is closed; closing twice is harmless. */
public final class H3JobEngine implements JobEngine {
    private final H3Engine engine;

    private H3JobEngine(H3Engine engine) {
        this.engine = engine;
    }

    /** Opens the engine. @throws RuntimeException as {@link H3Engine#open} */
    public static H3JobEngine open(EngineOptions options) {
        return new H3JobEngine(H3Engine.open(options));
    }

    @Override
    public void run(EngineOrder.Run order, StopRequest stop, Consumer<EngineReport> reports) {
        Narrator narrator = new Narrator(order.firstOutput(), stop, reports);
        engine.generateEach(order.request(), narrator::tell, stop.cancellation(),
                new StepSaving(order.steps(), order.saveEvery(), order.firstOutput(), narrator), clip -> take(clip, order, reports));
    }

    private static void take(Clip clip, EngineOrder.Run order, Consumer<EngineReport> reports) {
        int index = clip.record().output().index();
        reports.accept(new EngineReport.StageBegan(JobStage.SAVING));
        reports.accept(new EngineReport.OutputReady(index, clip.record().output().seed(), ClipFiles.write(clip, order.folder().resolve("output-" + index))));
    }

    @Override
    public void close() {
        engine.close();
    }

    /** Turns what the engine tells into reports. */
    private static final class Narrator implements StepSaving.Listener {
        private final StopRequest stop;
        private final Consumer<EngineReport> reports;
        private int output;

        Narrator(int output, StopRequest stop, Consumer<EngineReport> reports) {
            this.output = output;
            this.stop = stop;
            this.reports = reports;
        }

        void tell(Progress event) {
            switch (event) {
                case Progress.StageStarted(io.kinema.engine.Stage stage) -> reports.accept(new EngineReport.StageBegan(JobStage.of(stage)));
                case Progress.OutputStarted started -> {
                    output = started.index();
                    reports.accept(new EngineReport.OutputBegan(output));
                }
                case Progress.StepFinished step -> {
                    stop.stepped();
                    reports.accept(new EngineReport.Step(output, step.step(), step.steps()));
                }
                case Progress.StageFinished _, Progress.Message _ -> { }
            }
        }

        @Override
        public void restored(int of, int step, int steps) {
            reports.accept(new EngineReport.Restored(of, step, steps));
        }

        @Override
        public void saved(int of, int step, int steps) {
            reports.accept(new EngineReport.Saved(of, step, steps));
            stop.saved();
        }
    }
}

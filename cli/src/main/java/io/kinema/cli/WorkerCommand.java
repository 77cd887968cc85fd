package io.kinema.cli;

import io.kinema.engine.EngineOptions;
import io.kinema.engine.H3Planner;
import io.kinema.jobs.JobLimits;
import io.kinema.jobs.service.QueueService;
import io.kinema.jobs.worker.WorkerOptions;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code kinema worker}: makes the jobs of a queue that several hosts share. */
@Command(name = "worker", sortOptions = false, customSynopsis = "kinema worker --queue JDBC_URL --storage DIR [OPTION...]",
        description = "Makes jobs that kinema serve has taken, on this host too. Runs until it is told to stop (Ctrl-C, SIGTERM).",
        footer = {"", "All processes of a queue use the same database and the same storage. A job is made by one worker at a time; when a",
            "worker is lost, another goes on from the job's last saved step."})
final class WorkerCommand implements Callable<Integer> {
    private final Terminal terminal;

    @Spec
    private CommandSpec spec;

    @Mixin
    private JobOptions jobs;

    @Mixin
    private ExecutionOptions execution;

    WorkerCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() throws InterruptedException {
        if (!jobs.shared()) {
            throw new ParameterException(spec.commandLine(), "missing --queue JDBC_URL; a queue in a file has the worker of kinema serve");
        }
        jobs.require();
        EngineOptions engine = execution.standing();
        try (H3Planner planner = H3Planner.open(engine)) {
            StartChecks.options(planner, List.of());
        }
        StartChecks.devices(engine);
        jobs.makeFolders();
        WorkerOptions worker = jobs.worker(engine, spec);
        try (QueueService service = QueueService.open(jobs.queue(JobLimits.defaults()).worker(worker))) {
            terminal.err().println("worker: takes jobs for " + worker.model() + "; stops within " + worker.times().stopBound().toSeconds() + " s of being told to");
            untilToldToStop(service);
        }
        return ExitCode.DONE;
    }

    /** The JVM ends when this hook has returned: it drains first. */
    private void untilToldToStop(QueueService service) throws InterruptedException {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            terminal.err().println("worker: stopping");
            service.close();
            terminal.err().println("worker: stopped; a job that was not finished is back in the queue");
        }, "kinema-worker-stop"));
        new CountDownLatch(1).await();
    }
}

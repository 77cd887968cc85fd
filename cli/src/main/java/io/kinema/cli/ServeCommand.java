package io.kinema.cli;

import io.javalin.util.JavalinBindException;
import io.kinema.engine.EngineOptions;
import io.kinema.engine.H3Planner;
import io.kinema.jobs.service.QueueOptions;
import io.kinema.jobs.service.QueueService;
import io.kinema.serve.ServeOptions;
import io.kinema.serve.Server;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code kinema serve}: the HTTP API and Studio, with a worker that makes the videos. */
@Command(name = "serve", sortOptions = false, customSynopsis = "kinema serve [OPTION...]",
        description = "Serves an HTTP API (OpenAI's videos API with the fields of this model) and Studio. Runs until it is told to stop (Ctrl-C, SIGTERM).",
        footer = {"", "Jobs and results stay in --data: what was recorded is made after a restart too. See docs/api.md."})
final class ServeCommand implements Callable<Integer> {
    private static final String USUAL_PROMPT = "A red circle bounces across a blue background";

    private final Terminal terminal;

    @Spec
    private CommandSpec spec;

    @Mixin
    private ServerOptions server;

    @Mixin
    private JobOptions jobs;

    @Option(names = "--no-worker", description = "Take jobs and make none: kinema worker does, on this host or others. Needs --queue.")
    private boolean noWorker;

    @Mixin
    private ExecutionOptions execution;

    ServeCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() throws InterruptedException {
        if (noWorker && !jobs.shared()) {
            throw new ParameterException(spec.commandLine(), "--no-worker: got it without --queue, expected both: a queue in a file has no other worker");
        }
        jobs.require();
        ServeOptions options = options();
        EngineOptions engine = execution.standing();
        try (H3Planner planner = H3Planner.open(engine)) {
            StartChecks.options(planner, options.adapters().values());
            if (!noWorker) {
                StartChecks.devices(engine);
            }
            serve(options, engine, planner);
        }
        return ExitCode.DONE;
    }

    private void serve(ServeOptions options, EngineOptions engine, H3Planner planner) throws InterruptedException {
        makeFolder();
        try (QueueService queue = QueueService.open(queue(engine));
                Server running = start(options, queue, planner)) {
            Duration bound = options.stopWithin().plusSeconds(1).plus(noWorker ? Duration.ZERO : jobs.worker(engine, spec).times().stopBound());
            greet(running, options, planner, bound);
            untilToldToStop(running, queue);
        }
    }

    private ServeOptions options() {
        try {
            return server.serve(jobs.data(), System.getenv()).log(new FailurePrinter(terminal));
        } catch (IllegalArgumentException wrong) {
            throw mistake(wrong);
        }
    }

    private QueueOptions queue(EngineOptions engine) {
        try {
            QueueOptions queue = jobs.queue(server.limits());
            return noWorker ? queue : queue.worker(jobs.worker(engine, spec));
        } catch (IllegalArgumentException wrong) {
            throw mistake(wrong);
        }
    }

    /** The server speaks of its host; the user typed {@code --host}. */
    private ParameterException mistake(IllegalArgumentException wrong) {
        String message = wrong.getMessage();
        int end = message.indexOf(": got ");
        return new ParameterException(spec.commandLine(), message.startsWith("--") ? message
                : end < 0 ? "--" + message : Failures.optionName(message.substring(0, end)) + message.substring(end), wrong);
    }

    private void makeFolder() {
        jobs.makeFolders();
    }

    private Server start(ServeOptions options, QueueService queue, H3Planner planner) {
        try {
            return Server.start(options, queue, planner);
        } catch (JavalinBindException taken) {
            throw new ParameterException(spec.commandLine(), "--port: got " + options.port() + ", which another program listens on, expected a free one; "
                    + "give --port", taken);
        }
    }

    private void greet(Server running, ServeOptions options, H3Planner planner, Duration bound) {
        String address = server.address(running.port());
        String authorization = options.keys().open() ? "" : " -H \"Authorization: Bearer $KINEMA_TOKEN\"";
        var limits = planner.geometry().limits();
        terminal.print("Kinema serves " + planner.modelName() + " at " + address + ". Make a clip:");
        terminal.print("");
        terminal.print("  curl --fail-with-body " + address + "/v1/videos/sync" + authorization + " -H 'Content-Type: application/json' -d '{\"model\":\""
                + planner.modelName() + "\",\"prompt\":\"" + USUAL_PROMPT + "\",\"frames\":" + limits.defaultFrames() + ",\"steps\":" + limits.defaultSteps()
                + ",\"seed\":1}' -o clip.mp4");
        terminal.print("");
        terminal.print("Studio is at " + address + "/studio, the API's description at " + address + "/openapi.json. Jobs and results stay in " + jobs.data()
                + ". Ctrl-C stops within " + bound.toSeconds() + " s.");
        terminal.out().flush();
    }

    /** The JVM ends when this hook has returned. No new job is taken first; then the running one is finished or given back. */
    private void untilToldToStop(Server running, QueueService queue) throws InterruptedException {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            terminal.err().println("serve: stopping");
            running.close();
            queue.close();
            terminal.err().println("serve: stopped; a job that was not finished goes on at the next start");
        }, "kinema-serve-stop"));
        new CountDownLatch(1).await();
    }
}

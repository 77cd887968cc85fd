package io.kinema.jobs.process;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.engine.CancelledException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The child's side of the pipe: runs the orders that come in, one at a time, and reports. It ends when the pipe ends, that is when its parent
 * is gone; the caller then ends the process at once, whatever is being computed.
 */
public final class EngineHost {
    private static final Duration BEAT = Duration.ofSeconds(1);

    private final Frames.Writer out;
    private final JobEngine engine;
    private volatile Optional<StopRequest> running = Optional.empty();

    private EngineHost(Frames.Writer out, JobEngine engine) {
        this.out = out;
        this.engine = engine;
    }

    /**
     * Serves until the parent is gone.
     *
     * @param in     orders; nothing else may read it
     * @param out    reports; nothing else may write to it
     * @param opener opens the engine, while the parent already hears that the process lives
     * @throws IOException when something else than orders came in
     */
    public static void serve(InputStream in, OutputStream out, Supplier<JobEngine> opener) throws IOException {
        Frames.Writer writer = new Frames.Writer(out);
        Thread.ofPlatform().daemon().name("kinema-engine-beat").start(() -> beat(writer));
        EngineHost host = new EngineHost(writer, opener.get());
        host.report(new EngineReport.Ready());
        host.listen(new Frames.Reader(in));
    }

    private static void beat(Frames.Writer writer) {
        try {
            while (true) {
                Thread.sleep(BEAT);
                writer.write(new EngineReport.Alive().toJson());
            }
        } catch (IOException | InterruptedException gone) {
            // The reading side finds the same and ends the process.
        }
    }

    private void listen(Frames.Reader in) throws IOException {
        for (Optional<JsonNode> message = in.read(); message.isPresent(); message = in.read()) {
            switch (EngineOrder.read(message.get())) {
                case EngineOrder.Run run -> begin(run);
                case EngineOrder.Cancel _ -> running.ifPresent(StopRequest::cancel);
                case EngineOrder.Release _ -> running.ifPresent(StopRequest::release);
            }
        }
    }

    private void begin(EngineOrder.Run run) throws IOException {
        if (running.isPresent()) {
            throw new IOException("engine pipe: got a second order to run while one runs");
        }
        StopRequest stop = new StopRequest();
        running = Optional.of(stop);
        Thread.ofPlatform().daemon().name("kinema-engine-job").start(() -> run(run, stop));
    }

    private void run(EngineOrder.Run run, StopRequest stop) {
        EngineReport end;
        try {
            engine.run(run, stop, this::report);
            end = new EngineReport.Done();
        } catch (CancelledException cancelled) {
            end = new EngineReport.Stopped();
        } catch (Throwable failure) {
            // Also the VM's own errors, as when the disk under a mapped file fails: an order without an end would keep its parent waiting.
            end = new EngineReport.Failed(Refusals.of(failure));
        }
        // Before the report: the parent's next order may come right after it.
        running = Optional.empty();
        report(end);
    }

    private void report(EngineReport report) {
        try {
            out.write(report.toJson());
        } catch (IOException gone) {
            // Nobody listens any more; the reading side ends the process.
            running.ifPresent(StopRequest::cancel);
        }
    }
}

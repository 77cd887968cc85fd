package io.kinema.jobs.process;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * Owns an engine process until it is closed, which kills it. Reports are taken with {@link #next}; after the last one stands
 * {@link EngineReport.Died}. For one thread, except {@link #close}. Closing twice is harmless.
 */
public final class EngineProcess implements AutoCloseable {
    private static final int LAST_WORDS = 8192;

    private final Process process;
    private final Frames.Writer orders;
    private final BlockingQueue<EngineReport> reports = new LinkedBlockingQueue<>();
    private final StringBuilder lastWords = new StringBuilder();
    private volatile long heardAt = System.nanoTime();

    private EngineProcess(Process process) {
        this.process = process;
        this.orders = new Frames.Writer(process.getOutputStream());
    }

    /** Starts a process and waits until it takes orders. @throws IOException when it does not within {@code longest}, with its last words */
    public static EngineProcess start(EngineLauncher launcher, Duration longest) throws IOException, InterruptedException {
        EngineProcess engine = new EngineProcess(launcher.launch());
        Thread.ofPlatform().daemon().name("kinema-engine-words").start(engine::listenToErrors);
        Thread.ofPlatform().daemon().name("kinema-engine-reports").start(engine::listen);
        long deadline = System.nanoTime() + longest.toNanos();
        try {
            while (true) {
                Optional<EngineReport> report = engine.next(Duration.ofNanos(deadline - System.nanoTime()));
                if (report.isPresent() && report.get() instanceof EngineReport.Ready) {
                    return engine;
                }
                if (report.isPresent() && report.get() instanceof EngineReport.Died died) {
                    throw new IOException("the engine process ended before it was ready: " + died.lastWords());
                }
                if (report.isEmpty()) {
                    throw new IOException("the engine process was not ready within " + longest.toSeconds() + " s");
                }
            }
        } catch (IOException | InterruptedException e) {
            engine.close();
            throw e;
        }
    }

    /** Gives an order. @throws IOException when the process is gone */
    public void order(EngineOrder order) throws IOException {
        orders.write(order.toJson());
    }

    /** The next report, waiting for it; empty when none came. Signs of life are left out. */
    public Optional<EngineReport> next(Duration longest) throws InterruptedException {
        return Optional.ofNullable(reports.poll(Math.max(0, longest.toNanos()), TimeUnit.NANOSECONDS));
    }

    /** How long it has given no sign of life. */
    public Duration silence() {
        return Duration.ofNanos(System.nanoTime() - heardAt);
    }

    /** Counts its silence from now on: whoever was held up itself has not listened. */
    public void excuse() {
        heardAt = System.nanoTime();
    }

    public boolean alive() {
        return process.isAlive();
    }

    /** Of the process, for tests and diagnosis. */
    public long pid() {
        return process.pid();
    }

    private void listen() {
        try {
            Frames.Reader in = new Frames.Reader(process.getInputStream());
            for (Optional<JsonNode> message = in.read(); message.isPresent(); message = in.read()) {
                heardAt = System.nanoTime();
                EngineReport report = EngineReport.read(message.get());
                if (!(report instanceof EngineReport.Alive)) {
                    reports.add(report);
                }
            }
        } catch (IOException garbled) {
            // Whatever else writes there, this process cannot be understood any more.
            word(garbled.getMessage());
        }
        process.destroyForcibly();
        awaitEnd();
        reports.add(new EngineReport.Died(words()));
    }

    private void awaitEnd() {
        try {
            process.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void listenToErrors() {
        try (InputStream errors = process.getErrorStream()) {
            byte[] chunk = new byte[1024];
            for (int n = errors.read(chunk); n >= 0; n = errors.read(chunk)) {
                word(new String(chunk, 0, n, StandardCharsets.UTF_8));
            }
        } catch (IOException gone) {
            // So is the process, which the other listener reports.
        }
    }

    private void word(String text) {
        synchronized (lastWords) {
            lastWords.append(text);
            lastWords.delete(0, Math.max(0, lastWords.length() - LAST_WORDS));
        }
    }

    private String words() {
        synchronized (lastWords) {
            return lastWords.toString().strip();
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
        awaitEnd();
    }
}

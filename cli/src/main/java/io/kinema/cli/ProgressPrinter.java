package io.kinema.cli;

import io.kinema.engine.Progress;
import io.kinema.engine.ProgressListener;
import io.kinema.engine.Stage;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;

/**
 * Shows a request's progress on standard error: one line that is rewritten while somebody watches, plain lines in a log.
 * Owns a clock thread while it shows a rewritten line; {@link #close} ends it and the line.
 */
final class ProgressPrinter implements ProgressListener, AutoCloseable {
    private static final Duration TICK = Duration.ofMillis(200);
    private static final Duration BETWEEN_STEP_LINES = Duration.ofSeconds(1);
    private static final String BACK_AND_ERASE = "\r\033[K";

    private final Terminal terminal;
    private final boolean quiet;
    private final long started = System.nanoTime();
    private final Optional<Thread> clock;
    private String output = "";
    private String doing = "";
    private long lastStepLine = started;
    private boolean lineShown;
    private boolean closed;

    private ProgressPrinter(Terminal terminal, boolean quiet) {
        this.terminal = terminal;
        this.quiet = quiet;
        this.clock = quiet || !terminal.interactive() ? Optional.empty()
                : Optional.of(Thread.ofPlatform().daemon().name("kinema-progress").unstarted(this::tick));
    }

    /** Starts showing; elapsed time counts from here. */
    static ProgressPrinter start(Terminal terminal, boolean quiet) {
        ProgressPrinter printer = new ProgressPrinter(terminal, quiet);
        printer.clock.ifPresent(Thread::start);
        return printer;
    }

    @Override
    public synchronized void progress(Progress event) {
        if (quiet || closed) {
            return;
        }
        switch (event) {
            case Progress.StageStarted(Stage stage) -> show(stage.label());
            case Progress.StageFinished finished -> { }
            case Progress.StepFinished step -> step(step);
            case Progress.OutputStarted(int index, int outputs, long seed) ->
                    output = outputs == 1 ? "" : String.format(Locale.ROOT, "clip %d/%d, seed %d: ", index + 1, outputs, seed);
            case Progress.Message(String text) -> note(text);
        }
    }

    /** A line that stays. */
    synchronized void note(String text) {
        if (!quiet) {
            erase();
            terminal.err().println(time() + text);
            rewrite();
        }
    }

    private void step(Progress.StepFinished step) {
        String text = String.format(Locale.ROOT, "%s, step %d/%d, %s left", Stage.DENOISING.label(), step.step(), step.steps(),
                seconds(step.remaining()));
        boolean due = System.nanoTime() - lastStepLine >= BETWEEN_STEP_LINES.toNanos() || step.step() == 1 || step.step() == step.steps();
        if (terminal.interactive() || due) {
            lastStepLine = System.nanoTime();
            show(text);
        }
    }

    private void show(String text) {
        if (doing.equals(output + text)) {
            return;
        }
        doing = output + text;
        if (terminal.interactive()) {
            rewrite();
        } else {
            terminal.err().println(time() + doing);
        }
    }

    private void rewrite() {
        if (terminal.interactive() && !doing.isEmpty()) {
            terminal.err().print(BACK_AND_ERASE + time() + doing);
            terminal.err().flush();
            lineShown = true;
        }
    }

    private void erase() {
        if (lineShown) {
            terminal.err().print(BACK_AND_ERASE);
            lineShown = false;
        }
    }

    private void tick() {
        while (true) {
            try {
                Thread.sleep(TICK);
            } catch (InterruptedException stop) {
                return;
            }
            synchronized (this) {
                if (closed) {
                    return;
                }
                rewrite();
            }
        }
    }

    private String time() {
        return String.format(Locale.ROOT, "%8s  ", seconds(Duration.ofNanos(System.nanoTime() - started)));
    }

    static String seconds(Duration duration) {
        long tenths = Math.round(duration.toMillis() / 100.0);
        return tenths < 600 ? String.format(Locale.ROOT, "%d.%d s", tenths / 10, tenths % 10)
                : String.format(Locale.ROOT, "%d:%02d min", tenths / 600, tenths / 10 % 60);
    }

    @Override
    public void close() {
        clock.ifPresent(Thread::interrupt);
        synchronized (this) {
            erase();
            terminal.err().flush();
            closed = true;
        }
    }
}

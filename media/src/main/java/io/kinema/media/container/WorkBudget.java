package io.kinema.media.container;

import io.kinema.media.BadMediaException;
import java.io.IOException;
import java.time.Duration;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** The time that reading one file may take. Only its own steps count, not what the reader's user does between them. */
final class WorkBudget {

    private final String name;
    private final Duration most;
    private final LongSupplier clock;
    private long spent;
    private long started;
    private boolean running;

    /**
     * @param name the file, quoted, for messages
     * @param clock nanoseconds
     */
    WorkBudget(String name, Duration most, LongSupplier clock) {
        this.name = name;
        this.most = most;
        this.clock = clock;
    }

    /**
     * Runs a step on this budget.
     *
     * @throws BadMediaException before the step if nothing is left
     */
    <T> T spend(Supplier<T> step) {
        if (isSpent()) {
            throw exhausted();
        }
        started = clock.getAsLong();
        running = true;
        try {
            return step.get();
        } finally {
            spent += clock.getAsLong() - started;
            running = false;
        }
    }

    /** Called within a step, wherever it reads bytes: a container that leads FFmpeg about is left here. */
    void check() throws IOException {
        if (isSpent()) {
            throw new IOException("no time left");
        }
    }

    boolean isSpent() {
        return spent + (running ? clock.getAsLong() - started : 0) >= most.toNanos();
    }

    BadMediaException exhausted() {
        return new BadMediaException("The file " + name + " takes more than " + most.toMillis() / 1000.0
                + " s to decode; convert it to H.264 of a smaller size first.");
    }
}

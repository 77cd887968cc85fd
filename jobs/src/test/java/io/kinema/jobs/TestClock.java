package io.kinema.jobs;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicReference;

/** A clock that a test moves. */
public final class TestClock implements InstantSource {
    private final AtomicReference<Instant> now;

    public TestClock(Instant start) {
        now = new AtomicReference<>(start);
    }

    public void advance(Duration by) {
        now.updateAndGet(time -> time.plus(by));
    }

    @Override
    public Instant instant() {
        return now.get();
    }
}

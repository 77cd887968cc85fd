package io.kinema.jobs.worker;

import java.time.Duration;

/**
 * How long a worker waits for what.
 *
 * @param start    for an engine process to be ready
 * @param silence  without a sign of life from it (one comes every second) before it counts as hung and is killed
 * @param stall    without progress (a stage, a step) before it counts as hung, though it lives
 * @param storage  for a storage that refuses to take a result
 * @param drain    for the running job to finish, once the worker is told to stop
 * @param release  after that, for the engine to reach a saved step; then it is killed
 * @param poll     between two looks at the queue, and at whether the running job should be cancelled
 * @param beat     between two signs of life to the other workers; a worker is lost after four
 */
public record WorkerTimes(Duration start, Duration silence, Duration stall, Duration storage, Duration drain, Duration release, Duration poll, Duration beat) {
    public WorkerTimes {
        if (drain.isNegative()) {
            throw new IllegalArgumentException("drain: got " + drain.toSeconds() + ", expected 0 s or more");
        }
    }

    /** A minute to start, 30 s of silence, half an hour without progress, two minutes of storage trouble, 20 s and 10 s to drain, lost after 12 s. */
    public static WorkerTimes defaults() {
        return new WorkerTimes(Duration.ofMinutes(1), Duration.ofSeconds(30), Duration.ofMinutes(30), Duration.ofMinutes(2), Duration.ofSeconds(20),
                Duration.ofSeconds(10), Duration.ofMillis(200), Duration.ofSeconds(3));
    }

    /** The same with another time to drain. */
    public WorkerTimes drain(Duration value) {
        return new WorkerTimes(start, silence, stall, storage, value, release, poll, beat);
    }

    /** The longest time from being told to stop until the worker has stopped: what {@code SIGTERM} may take. */
    public Duration stopBound() {
        return drain.plus(release).plusSeconds(5);
    }
}

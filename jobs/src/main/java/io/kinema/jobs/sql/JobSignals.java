package io.kinema.jobs.sql;

import io.kinema.jobs.JobId;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** Wakes threads of this process that wait for a job to change. */
final class JobSignals {
    private final ConcurrentHashMap<JobId, Set<Semaphore>> waiting = new ConcurrentHashMap<>();

    /** Wakes whoever waits for this job. */
    void changed(JobId id) {
        waiting.getOrDefault(id, Set.of()).forEach(Semaphore::release);
    }

    /** Begins to listen; close it. A change after this wakes {@link Ear#await}, also when it comes first. */
    Ear listen(JobId id) {
        Semaphore signal = new Semaphore(0);
        waiting.compute(id, (key, others) -> {
            Set<Semaphore> all = others == null ? ConcurrentHashMap.newKeySet() : others;
            all.add(signal);
            return all;
        });
        return new Ear(id, signal);
    }

    /** One that listens. */
    final class Ear implements AutoCloseable {
        private final JobId id;
        private final Semaphore signal;

        private Ear(JobId id, Semaphore signal) {
            this.id = id;
            this.signal = signal;
        }

        /** Waits for a change or until the time is up. */
        void await(Duration longest) throws InterruptedException {
            if (signal.tryAcquire(longest.toNanos(), TimeUnit.NANOSECONDS)) {
                signal.drainPermits();
            }
        }

        @Override
        public void close() {
            waiting.computeIfPresent(id, (key, all) -> {
                all.remove(signal);
                return all.isEmpty() ? null : all;
            });
        }
    }
}

package io.kinema.compute.cpu;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/**
 * Owns a fixed set of platform threads until it is closed. {@link #run} splits work into tasks whose number and bounds depend
 * on shapes only; which thread takes which task is left to chance, so results do not depend on the thread count.
 * Idle workers spin for some microseconds before they park, because operations follow each other closely.
 * One thread at a time calls {@link #run}, and works too; a second one is refused, since each would take the other's tasks for its own.
 */
final class WorkerPool implements AutoCloseable {
    private static final long SPIN_NANOS = 60_000;

    private final Worker[] workers;
    private final Scratch callerScratch = new Scratch();
    private volatile Job job;
    private volatile boolean closed;
    private final AtomicReference<Thread> running = new AtomicReference<>();

    /** A piece of work; {@code index} counts from 0, {@code scratch} belongs to the running thread. */
    interface Task {
        void run(int index, Scratch scratch);
    }

    /** @param threads in all, the caller of {@link #run} included; at least 1 */
    WorkerPool(int threads) {
        workers = new Worker[threads - 1];
        for (int i = 0; i < workers.length; i++) {
            workers[i] = new Worker("kinema-compute-" + (i + 1));
            workers[i].start();
        }
    }

    int threads() {
        return workers.length + 1;
    }

    /** Bytes of all threads' scratch memory; asked between calls of {@link #run}. */
    long scratchBytes() {
        return callerScratch.size() + Arrays.stream(workers).mapToLong(w -> w.scratch.size()).sum();
    }

    /** Runs tasks 0 to count - 1 and returns when all are done; the first failure is thrown here. */
    void run(int count, Task task) {
        if (closed) {
            throw new IllegalStateException("the worker pool is closed");
        }
        Thread other = running.compareAndExchange(null, Thread.currentThread());
        if (other != null) {
            throw new IllegalStateException("worker pool: got work of thread " + Thread.currentThread().getName() + " while thread " + other.getName()
                    + " has some, expected one at a time");
        }
        try {
            runAlone(count, task);
        } finally {
            running.set(null);
        }
    }

    private void runAlone(int count, Task task) {
        if (count <= 1 || workers.length == 0) {
            for (int i = 0; i < count; i++) {
                task.run(i, callerScratch);
            }
            return;
        }
        Job mine = new Job(task, count, Thread.currentThread());
        job = mine;
        for (int i = 0; i < Math.min(workers.length, count - 1); i++) {
            workers[i].wake();
        }
        mine.work(callerScratch);
        mine.await();
        job = null;
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        for (Worker w : workers) {
            LockSupport.unpark(w);
        }
        boolean interrupted = false;
        for (Worker w : workers) {
            while (w.isAlive()) {
                try {
                    w.join();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        }
        callerScratch.close();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** One call of {@link #run}. */
    private static final class Job {
        private final Task task;
        private final int count;
        private final Thread caller;
        private final AtomicInteger next = new AtomicInteger();
        private final AtomicInteger done = new AtomicInteger();
        private final AtomicReference<Throwable> failure = new AtomicReference<>();
        private volatile boolean callerParked;

        Job(Task task, int count, Thread caller) {
            this.task = task;
            this.count = count;
            this.caller = caller;
        }

        /** Takes tasks until none is left; after a failure the rest is only counted. */
        void work(Scratch scratch) {
            for (int i = next.getAndIncrement(); i < count; i = next.getAndIncrement()) {
                try {
                    if (failure.get() == null) {
                        task.run(i, scratch);
                    }
                } catch (Throwable t) {
                    failure.compareAndSet(null, t);
                }
                if (done.incrementAndGet() == count && callerParked) {
                    LockSupport.unpark(caller);
                }
            }
        }

        void await() {
            long start = System.nanoTime();
            while (done.get() < count) {
                if (System.nanoTime() - start < SPIN_NANOS) {
                    Thread.onSpinWait();
                } else {
                    callerParked = true;
                    if (done.get() < count) {
                        LockSupport.park(this);
                    }
                }
            }
            switch (failure.get()) {
                case null -> { }
                case RuntimeException e -> throw e;
                case Error e -> throw e;
                case Throwable t -> throw new IllegalStateException("a compute task failed", t);
            }
        }
    }

    private final class Worker extends Thread {
        private final Scratch scratch = new Scratch();
        private volatile boolean parked;

        Worker(String name) {
            super(name);
            setDaemon(true);
        }

        void wake() {
            if (parked) {
                LockSupport.unpark(this);
            }
        }

        @Override
        public void run() {
            try (scratch) {
                Job seen = null;
                while (!closed) {
                    Job current = job;
                    if (current != null && current != seen) {
                        current.work(scratch);
                        seen = current;
                    } else {
                        pause(seen);
                    }
                }
            }
        }

        /** Spins, then parks, until there is a job other than {@code seen}. */
        private void pause(Job seen) {
            long start = System.nanoTime();
            while (nothingNew(seen)) {
                if (System.nanoTime() - start < SPIN_NANOS) {
                    Thread.onSpinWait();
                    continue;
                }
                parked = true;
                if (nothingNew(seen)) {
                    LockSupport.park(WorkerPool.this);
                }
                parked = false;
            }
        }

        private boolean nothingNew(Job seen) {
            Job current = job;
            return !closed && (current == null || current == seen);
        }
    }
}

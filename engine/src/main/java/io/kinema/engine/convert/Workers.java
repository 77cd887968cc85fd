package io.kinema.engine.convert;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Owns a fixed number of compute threads until it is closed; closing twice is harmless. Results come in the order of the work. */
public final class Workers implements AutoCloseable {
    private final ExecutorService pool;

    public Workers(int threads) {
        pool = Executors.newFixedThreadPool(threads, Thread.ofPlatform().name("kinema-files-", 0).daemon().factory());
    }

    /** The results of all, or the first failure as if this thread had met it. */
    public <T> List<T> all(List<? extends Callable<T>> work) {
        List<Future<T>> running = new ArrayList<>();
        work.forEach(w -> running.add(pool.submit(w)));
        try {
            List<T> results = new ArrayList<>();
            for (Future<T> future : running) {
                results.add(future.get());
            }
            return results;
        } catch (ExecutionException e) {
            throw e.getCause() instanceof RuntimeException cause ? cause : new IllegalStateException("work on a tensor failed", e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while tensors were worked on", e);
        } finally {
            running.forEach(f -> f.cancel(true));
        }
    }

    @Override
    public void close() {
        pool.shutdownNow();
        pool.close();
    }
}

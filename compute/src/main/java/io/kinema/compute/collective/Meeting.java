package io.kinema.compute.collective;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

/**
 * A point where all ranks wait for each other, again and again. Unlike {@link java.util.concurrent.CyclicBarrier}, it lets nobody wait
 * after one has failed, whether they came before or come later, and tells all of them the first failure.
 */
final class Meeting {
    private final int ranks;
    private final Duration timeout;
    /** Two in turn: what one exchange brought stays until all have come to the next. */
    private final Object[][] brought;
    private final int[] exchanges;
    private int present;
    private long round;
    private final List<Runnable> watchers = new CopyOnWriteArrayList<>();
    private Throwable failure;

    Meeting(int ranks, Duration timeout) {
        this.ranks = ranks;
        this.timeout = timeout;
        this.brought = new Object[2][ranks];
        this.exchanges = new int[ranks];
    }

    /**
     * Waits until all ranks are here.
     *
     * @param what names the point in messages
     * @throws RankAbortedException when a rank has failed
     * @throws RankTimeoutException when somebody does not come
     */
    void join(int rank, String what) {
        try {
            meet(rank, what);
        } catch (RankTimeoutException | RankAbortedException e) {
            // Watchers may wait for the other ranks' devices, so they run without this object's lock.
            fail(e instanceof RankTimeoutException ? e : e.getCause());
            throw e;
        }
    }

    private synchronized void meet(int rank, String what) {
        requireSound(rank);
        long mine = round;
        if (++present == ranks) {
            present = 0;
            round++;
            notifyAll();
            return;
        }
        long end = System.nanoTime() + timeout.toNanos();
        while (round == mine) {
            long left = end - System.nanoTime();
            if (left <= 0) {
                throw new RankTimeoutException(what, present, ranks, timeout);
            }
            await(rank, left);
            if (round == mine) {
                requireSound(rank);
            }
        }
    }

    /** What every rank brought to this point, in the order of ranks. */
    Object[] exchange(int rank, String what, Object mine) {
        Object[] here;
        synchronized (this) {
            here = brought[exchanges[rank]++ & 1];
            here[rank] = mine;
        }
        join(rank, what);
        synchronized (this) {
            return here.clone();
        }
    }

    /** Forgets what happened; nobody may be waiting. */
    synchronized void reset() {
        present = 0;
        failure = null;
        Arrays.fill(exchanges, 0);
    }

    /** Ends this and every later wait; the first failure counts, and runs the watchers. */
    void fail(Throwable cause) {
        synchronized (this) {
            if (failure != null) {
                return;
            }
            failure = cause;
            notifyAll();
        }
        for (Runnable watcher : watchers) {
            try {
                watcher.run();
            } catch (RuntimeException e) {
                cause.addSuppressed(e);
            }
        }
    }

    /** Runs {@code watcher} at the first failure of each round of work, on the thread that failed. @return takes it back */
    Communicator.Watch watch(Runnable watcher) {
        watchers.add(watcher);
        return () -> watchers.remove(watcher);
    }

    private void await(int rank, long nanos) {
        try {
            TimeUnit.NANOSECONDS.timedWait(this, nanos);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new RankAbortedException(rank, e);
        }
    }

    private void requireSound(int rank) {
        if (failure != null) {
            throw new RankAbortedException(rank, failure);
        }
    }
}

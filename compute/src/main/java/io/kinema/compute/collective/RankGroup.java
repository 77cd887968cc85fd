package io.kinema.compute.collective;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Owns the platform threads of some ranks until it is closed: each rank's work runs on its own thread, always the same. When one
 * rank fails, the others stop at their next meeting, and the call ends with the first failure. Closing twice is harmless;
 * it waits for running work.
 */
public final class RankGroup implements AutoCloseable {
    /** The most ranks of a group. */
    public static final int MAX_RANKS = 64;

    /** What one rank does in a call. */
    @FunctionalInterface
    public interface Work<T> {
        /** @param rank this rank's end of the group, the same object in every call */
        T run(Communicator rank);
    }

    private final int size;
    private final Meeting meeting;
    private final List<Communicator> communicators = new ArrayList<>();
    private final List<ExecutorService> threads = new ArrayList<>();
    private boolean closed;

    private RankGroup(int size, Duration timeout, int chunk) {
        this.size = size;
        this.meeting = new Meeting(size, timeout);
        for (int rank = 0; rank < size; rank++) {
            communicators.add(new SharedRing(meeting, rank, size, chunk));
            String name = "kinema-rank-" + rank;
            threads.add(Executors.newSingleThreadExecutor(task -> {
                Thread thread = new Thread(task, name);
                thread.setDaemon(true);
                return thread;
            }));
        }
    }

    /**
     * @param size    ranks, 1 to {@value #MAX_RANKS}
     * @param timeout the longest that a rank waits for the others at one point
     */
    public static RankGroup open(int size, Duration timeout) {
        return open(size, timeout, RingOrder.CHUNK);
    }

    /** The same with reductions in pieces of {@code chunk} values, for tests: the order of addition differs from piece to piece. */
    static RankGroup open(int size, Duration timeout, int chunk) {
        if (size < 1 || size > MAX_RANKS || timeout.isNegative() || timeout.isZero()) {
            throw new IllegalArgumentException("rank group: got " + size + " ranks and a timeout of " + timeout + ", expected 1 to " + MAX_RANKS
                    + " ranks and a timeout above 0");
        }
        return new RankGroup(size, timeout, chunk);
    }

    /** How many ranks there are. */
    public int size() {
        return size;
    }

    /**
     * Runs {@code work} on every rank at once and waits for all.
     *
     * @return what each rank made, in the order of ranks
     * @throws RuntimeException the first failure of any rank, as it was thrown there
     */
    public <T> List<T> each(Work<T> work) {
        if (closed) {
            throw new IllegalStateException("rank group is closed");
        }
        meeting.reset();
        List<Future<T>> running = new ArrayList<>();
        for (int rank = 0; rank < size; rank++) {
            Communicator communicator = communicators.get(rank);
            running.add(threads.get(rank).submit(() -> {
                try {
                    return work.run(communicator);
                } catch (Throwable e) {
                    meeting.fail(e);
                    throw e;
                }
            }));
        }
        return results(running);
    }

    /**
     * {@link #each} for what has to be closed: when a rank fails, what the others made is closed on the threads that made it.
     *
     * @return owned by the caller
     */
    public <T extends AutoCloseable> List<T> open(Work<T> work) {
        List<Optional<T>> made = new ArrayList<>(Collections.nCopies(size, Optional.empty()));
        try {
            return each(rank -> {
                T mine = work.run(rank);
                made.set(rank.rank(), Optional.of(mine));
                return mine;
            });
        } catch (RuntimeException | Error e) {
            try {
                each(rank -> close(made.get(rank.rank())));
            } catch (RuntimeException again) {
                e.addSuppressed(again);
            }
            throw e;
        }
    }

    private static <T extends AutoCloseable> boolean close(Optional<T> made) {
        try {
            if (made.isPresent()) {
                made.get().close();
            }
            return made.isPresent();
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException("closing what a rank made: " + e.getMessage(), e);
        }
    }

    private static <T> List<T> results(List<Future<T>> running) {
        List<T> made = new ArrayList<>();
        List<Throwable> failures = new ArrayList<>();
        boolean interrupted = false;
        for (Future<T> rank : running) {
            while (true) {
                try {
                    made.add(rank.get());
                    break;
                } catch (ExecutionException e) {
                    failures.add(e.getCause());
                    break;
                } catch (InterruptedException e) {
                    // The ranks use memory of the caller: it must not go on before they have stopped.
                    interrupted = true;
                }
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        if (!failures.isEmpty()) {
            throw first(failures);
        }
        return made;
    }

    /** A rank that was stopped names the failure that stopped it, so any of them leads to the first one. */
    private static RuntimeException first(List<Throwable> failures) {
        Throwable one = failures.getFirst();
        Throwable first = one instanceof RankAbortedException aborted ? aborted.getCause() : failures.stream()
                .filter(RankAbortedException.class::isInstance).map(Throwable::getCause).findFirst().orElse(one);
        return switch (first) {
            case RuntimeException e -> e;
            case Error e -> throw e;
            default -> new IllegalStateException("a rank was interrupted", first);
        };
    }

    @Override
    public void close() {
        closed = true;
        threads.forEach(ExecutorService::close);
    }
}

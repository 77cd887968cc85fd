package io.kinema.model.load;

import io.kinema.compute.StagingLoader;
import io.kinema.compute.StagingLoader.Fence;
import io.kinema.compute.TimeMark;
import io.kinema.compute.Workspace;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Owns memory for one block at a time until it is closed, which leaves it empty and fit for use again. Used by one thread, which
 * hands the memory to the staging thread while a block is brought.
 *
 * @param <T> the weights of one block
 */
final class StagingRoom<T> implements AutoCloseable {
    private static final int NOTHING = -1;

    private final StagingLoader loader;
    private Optional<Workspace> memory = Optional.empty();
    /** Where the block's memory ends; touched by the thread that brings only. */
    private Optional<Workspace.Frame> frame = Optional.empty();
    private int index = NOTHING;
    private CompletableFuture<Arrival<T>> coming = CompletableFuture.failedFuture(new IllegalStateException("nothing was brought"));
    private Fence computed = Fence.REACHED;
    private boolean lent;
    private boolean seen;

    /**
     * A block, and the mapped memory that it was read from.
     *
     * @param mapped pages of files
     */
    record Brought<T>(T block, List<MemorySegment> mapped) {
    }

    /**
     * A block that has arrived.
     *
     * @param mapped pages of files that it was read from, and may still be views of
     * @param loaded the point after which it is whole
     * @param bytes  written for it
     */
    record Arrival<T>(T block, List<MemorySegment> mapped, Fence loaded, long bytes, TimeMark from, TimeMark to) {
        void close() {
            loaded.close();
            from.close();
            to.close();
        }
    }

    StagingRoom(StagingLoader loader) {
        this.loader = loader;
    }

    boolean holds(int block) {
        return index == block;
    }

    boolean lent() {
        return lent;
    }

    /** Brings a block in place of what is here, on {@code thread} or, without one, now. */
    void bring(int block, Optional<ExecutorService> thread, Function<Workspace, Brought<T>> load) {
        settle();
        if (memory.isEmpty()) {
            memory = Optional.of(loader.workspace("staged weights"));
        }
        Workspace into = memory.get();
        Fence before = computed;
        computed = Fence.REACHED;
        index = block;
        seen = false;
        Supplier<Arrival<T>> task = () -> load(into, before, load);
        coming = thread.map(t -> CompletableFuture.supplyAsync(task, t)).orElseGet(() -> now(task));
    }

    private static <V> CompletableFuture<V> now(Supplier<V> task) {
        try {
            return CompletableFuture.completedFuture(task.get());
        } catch (RuntimeException | Error e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private Arrival<T> load(Workspace into, Fence before, Function<Workspace, Brought<T>> load) {
        try (before) {
            loader.waitFor(before);
        }
        frame.ifPresent(Workspace.Frame::close);
        frame = Optional.of(into.frame());
        TimeMark from = loader.mark();
        try {
            Brought<T> brought = load.apply(into);
            return new Arrival<>(brought.block(), brought.mapped(), loader.loaded(), into.bytes(), from, loader.mark());
        } catch (RuntimeException | Error e) {
            from.close();
            loader.finish();
            throw e;
        }
    }

    /** The block, when the thread that brings it has done so. Throws what that thread met. */
    Arrival<T> arrival() {
        return StagedBlocks.unwrapped(coming::join);
    }

    /** The arrival, the first time that it is asked for. */
    Optional<Arrival<T>> first() {
        boolean before = seen;
        seen = true;
        return before ? Optional.empty() : Optional.of(arrival());
    }

    void lend() {
        lent = true;
    }

    /** @param after the point after which its memory may be written again */
    void takeBack(Fence after) {
        lent = false;
        computed.close();
        computed = after;
    }

    /** Waits for what is being brought, and lets go of its marks; a failure that nobody asked for is no longer of interest. */
    private void settle() {
        try {
            Arrival<T> arrival = coming.join();
            WatchedTensors.drop(arrival.mapped());
            if (!seen) {
                // Nobody has waited for it, but the memory may go to others.
                loader.holdBackend(arrival.loaded());
                arrival.close();
            } else {
                arrival.loaded().close();
            }
        } catch (CompletionException e) {
            // Whoever had acquired the block would have met it.
        }
        coming = CompletableFuture.failedFuture(new IllegalStateException("nothing was brought"));
        index = NOTHING;
    }

    /** Gives the memory back. What was enqueued may still read it, in the backend's order. */
    @Override
    public void close() {
        settle();
        computed.close();
        computed = Fence.REACHED;
        frame = Optional.empty();
        memory.ifPresent(Workspace::close);
        memory = Optional.empty();
        lent = false;
    }
}

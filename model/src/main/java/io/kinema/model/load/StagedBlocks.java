package io.kinema.model.load;

import io.kinema.compute.Backend;
import io.kinema.compute.Device;
import io.kinema.compute.StagingLoader;
import io.kinema.compute.TimeMark;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.BiFunction;
import java.util.function.IntPredicate;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Owns blocks that stay on the device and room for two more, through which the others pass, until it is closed; closing twice is
 * harmless. While a block computes the next one that does not stay is brought beside it, by a thread and, on a device, a stream of its
 * own. On the processor, the pages of a mapped file that a block is a view of are dropped when another takes its room. Memory is written again when the block that it held has been computed, which the device's order says: nobody waits for it.
 * A block that cannot be read is reported when it is acquired; the next acquisition tries again. Used by one thread.
 *
 * @param <T> the weights of one block
 */
final class StagedBlocks<T> implements BlockStore<T> {
    private static final int ROOMS = 2;

    private final Backend backend;
    private final int count;
    private final Parameters p;
    private final BiFunction<Parameters, Integer, T> load;
    private final boolean again;
    private final Map<Integer, T> resident = new LinkedHashMap<>();
    private final StagingLoader loader;
    private final Optional<ExecutorService> thread;
    private final List<StagingRoom<T>> rooms;
    /** Blocks whose values were looked at once. */
    private final BitSet known = new BitSet();
    private final StagingTimes times = new StagingTimes();
    private boolean closed;

    private StagedBlocks(Backend backend, int count, Parameters p, BiFunction<Parameters, Integer, T> load, boolean again, IntPredicate stays) {
        this.backend = backend;
        this.count = count;
        this.p = p;
        this.load = load;
        this.again = again;
        for (int i = 0; i < count; i++) {
            if (stays.test(i)) {
                resident.put(i, load.apply(p, i));
            }
        }
        this.loader = backend.stagingLoader().orElseGet(() -> StagingLoader.inOrder(backend));
        this.thread = loader.beside() ? Optional.of(Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().name("kinema-staging").factory()))
                : Optional.empty();
        this.rooms = Stream.<StagingRoom<T>>generate(() -> new StagingRoom<>(loader)).limit(loader.beside() ? ROOMS : 1).toList();
    }

    /** Blocks that are walked through again and again: after the last comes the first. */
    static <T> StagedBlocks<T> again(Backend backend, WeightPlacement placement, int count, Parameters p, BiFunction<Parameters, Integer, T> load) {
        return new StagedBlocks<>(backend, count, p, load, true, i -> placement.stays(i, count));
    }

    /** Blocks that are walked through now and then: the room is given back after the last. */
    static <T> StagedBlocks<T> once(Backend backend, int count, Parameters p, BiFunction<Parameters, Integer, T> load) {
        return new StagedBlocks<>(backend, count, p, load, false, _ -> false);
    }

    @Override
    public int count() {
        return count;
    }

    @Override
    public boolean staysPut() {
        return resident.size() == count;
    }

    @Override
    public Lease<T> acquire(int index) {
        if (closed) {
            throw new IllegalStateException("staged blocks: used after close");
        }
        if (resident.containsKey(Objects.checkIndex(index, count))) {
            stageAfter(index);
            return BlockStore.kept(resident.get(index));
        }
        StagingRoom<T> room = rooms.stream().filter(r -> r.holds(index)).findFirst().orElseGet(() -> {
            StagingRoom<T> free = free(index);
            stage(free, index);
            return free;
        });
        T block = arrived(room, index);
        room.lend();
        stageAfter(index);
        return lease(room, index, block);
    }

    private T arrived(StagingRoom<T> room, int index) {
        TimeMark before = backend.mark();
        try {
            StagingRoom.Arrival<T> arrival = room.arrival();
            loader.holdBackend(arrival.loaded());
            room.first().ifPresentOrElse(fresh -> times.add(before, backend.mark(), fresh), before::close);
            known.set(index);
            return arrival.block();
        } catch (RuntimeException | Error e) {
            before.close();
            rooms.stream().filter(r -> !r.lent()).forEach(StagingRoom::close);
            throw e;
        }
    }

    private Lease<T> lease(StagingRoom<T> room, int index, T block) {
        return new Lease<>() {
            private boolean open = true;

            @Override
            public T weights() {
                return block;
            }

            @Override
            public void close() {
                if (open) {
                    open = false;
                    room.takeBack(loader.computed());
                    if (!again && next(index).isEmpty()) {
                        rooms.forEach(StagingRoom::close);
                    }
                }
            }
        };
    }

    /** A room that nobody uses; one whose block would be needed next only when there is no other. */
    private StagingRoom<T> free(int index) {
        OptionalInt next = next(index);
        return rooms.stream().filter(r -> !r.lent()).min((a, b) -> Boolean.compare(next.isPresent() && a.holds(next.getAsInt()),
                        next.isPresent() && b.holds(next.getAsInt())))
                .orElseThrow(() -> new IllegalStateException("staged blocks: block " + index + " is asked for while " + rooms.size()
                        + " are lent, expected a lease to be closed first"));
    }

    private void stageAfter(int index) {
        if (!loader.beside()) {
            return;
        }
        next(index).ifPresent(next -> {
            if (rooms.stream().noneMatch(r -> r.holds(next))) {
                rooms.stream().filter(r -> !r.lent()).findFirst().ifPresent(room -> stage(room, next));
            }
        });
    }

    private OptionalInt next(int index) {
        for (int i = index + 1; i < count; i++) {
            if (!resident.containsKey(i)) {
                return OptionalInt.of(i);
            }
        }
        for (int i = 0; again && i < index; i++) {
            if (!resident.containsKey(i)) {
                return OptionalInt.of(i);
            }
        }
        return OptionalInt.empty();
    }

    private void stage(StagingRoom<T> room, int index) {
        Parameters reader = p.by(loader).knowing(known.get(index));
        room.bring(index, thread, memory -> {
            if (backend.device().kind() != Device.Kind.CPU) {
                return new StagingRoom.Brought<>(load.apply(reader.into(memory), index), List.of());
            }
            WatchedTensors watched = new WatchedTensors(p.source());
            return new StagingRoom.Brought<>(load.apply(reader.into(memory).from(watched), index), watched.mapped());
        });
    }

    @Override
    public StagingReport report() {
        return times.report(resident.size());
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            rooms.forEach(StagingRoom::close);
            thread.ifPresent(ExecutorService::shutdown);
            loader.close();
            times.close();
        }
    }

    /** What {@code supplied} gives, or the failure that another thread met, as if this one had met it. */
    static <V> V unwrapped(Supplier<V> supplied) {
        try {
            return supplied.get();
        } catch (CompletionException e) {
            switch (e.getCause()) {
                case RuntimeException cause -> throw cause;
                case Error cause -> throw cause;
                default -> throw e;
            }
        }
    }
}

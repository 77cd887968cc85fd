package io.kinema.model.load;

import io.kinema.compute.Backend;
import io.kinema.compute.Workspace;
import java.util.List;
import java.util.Objects;
import java.util.function.BiFunction;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/**
 * Lends the weights of a network's repeated blocks, one block at a time, so that where they live between uses (always on
 * the device, staged from the host) is a policy of the store and not of the network. Closing gives back what the store
 * itself holds and is idempotent. Used by one thread.
 *
 * @param <T> the weights of one block
 */
public interface BlockStore<T> extends AutoCloseable {
    /** How many blocks there are. */
    int count();

    /**
     * Block {@code index}'s weights on the device until the lease is closed. Work that was enqueued before the close may
     * still read them.
     */
    Lease<T> acquire(int index);

    /** True when every block stays where it is, so that work on all of them can be recorded. */
    default boolean staysPut() {
        return false;
    }

    /** What bringing blocks has taken; call it after {@link Backend#finish()}. */
    default StagingReport report() {
        return StagingReport.NONE;
    }

    @Override
    void close();

    /** Holds one block's weights on the device until it is closed; closing twice is harmless. */
    interface Lease<T> extends AutoCloseable {
        T weights();

        @Override
        void close();
    }

    /**
     * Blocks that are read each time they are acquired, into memory that closing the lease gives back: between uses they take
     * none. Their sizes are the caller's to check beforehand.
     *
     * @param load reads block {@code index} with a reader whose copies the lease owns
     */
    static <T> BlockStore<T> onDemand(int count, Parameters p, BiFunction<Parameters, Integer, T> load) {
        return new BlockStore<>() {
            @Override
            public int count() {
                return count;
            }

            @Override
            public Lease<T> acquire(int index) {
                Workspace memory = p.backend().workspace("weights on demand");
                try {
                    T block = load.apply(p.into(memory), Objects.checkIndex(index, count));
                    return lease(memory, block);
                } catch (RuntimeException e) {
                    memory.close();
                    throw e;
                }
            }

            @Override
            public void close() {
                // Every lease has given back what it held.
            }
        };
    }

    /** What was enqueued may still read the weights: their memory is given out again in the same order of operations only. */
    private static <T> Lease<T> lease(Workspace memory, T block) {
        return new Lease<>() {
            @Override
            public T weights() {
                return block;
            }

            @Override
            public void close() {
                memory.close();
            }
        };
    }

    /** Blocks that live where {@code placement} says. @param load as for {@link #onDemand} */
    static <T> BlockStore<T> of(WeightPlacement placement, Backend backend, int count, Parameters p, BiFunction<Parameters, Integer, T> load) {
        return switch (placement.residency()) {
            case COMPONENT -> resident(count, i -> load.apply(p, i));
            case LAYER -> StagedBlocks.again(backend, placement, count, p, load);
        };
    }

    /**
     * Blocks that are walked through now and then, in order: each is brought while the one before it computes, and none is on the device
     * between two walks. @param load as for {@link #onDemand}
     */
    static <T> BlockStore<T> walkedOnce(Backend backend, int count, Parameters p, BiFunction<Parameters, Integer, T> load) {
        return StagedBlocks.once(backend, count, p, load);
    }

    /** All blocks loaded now and kept: on the CPU views of the checkpoint's map. Their memory belongs to whoever loads them. */
    static <T> BlockStore<T> resident(int count, IntFunction<T> load) {
        List<T> blocks = IntStream.range(0, count).mapToObj(load).toList();
        return new BlockStore<>() {
            @Override
            public int count() {
                return count;
            }

            @Override
            public Lease<T> acquire(int index) {
                return kept(blocks.get(index));
            }

            @Override
            public boolean staysPut() {
                return true;
            }

            @Override
            public StagingReport report() {
                return new StagingReport(count, 0, 0, 0, 0);
            }

            @Override
            public void close() {
                // Views and copies belong to the source and to the owner of the parameters.
            }
        };
    }

    /** A lease of what stays: closing it gives nothing back. */
    static <T> Lease<T> kept(T block) {
        return new Lease<>() {
            @Override
            public T weights() {
                return block;
            }

            @Override
            public void close() {
                // The block stays.
            }
        };
    }
}

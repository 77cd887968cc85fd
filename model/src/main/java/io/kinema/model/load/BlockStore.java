package io.kinema.model.load;

import java.util.List;
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

    @Override
    void close();

    /** Holds one block's weights on the device until it is closed; closing twice is harmless. */
    interface Lease<T> extends AutoCloseable {
        T weights();

        @Override
        void close();
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
                T block = blocks.get(index);
                return new Lease<>() {
                    @Override
                    public T weights() {
                        return block;
                    }

                    @Override
                    public void close() {
                        // The block stays: nothing to give back.
                    }
                };
            }

            @Override
            public void close() {
                // Views and copies belong to the source and to the owner of the parameters.
            }
        };
    }
}

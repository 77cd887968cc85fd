package io.kinema.engine.prepared;

import io.kinema.compute.Tensor;
import io.kinema.compute.collective.Communicator;
import java.util.List;

/**
 * One of several ranks when its weights are prepared: a network asks it which part is its own, and nothing is computed.
 *
 * @param rank 0 to {@code size - 1}
 * @param size how many there will be
 */
public record RankToBe(int rank, int size) implements Communicator {
    @Override
    public void allReduce(Tensor values) {
        throw computing();
    }

    @Override
    public void allGather(Tensor part, Tensor whole) {
        throw computing();
    }

    @Override
    public void barrier() {
        throw computing();
    }

    @Override
    public boolean agree(boolean mine) {
        throw computing();
    }

    @Override
    public <T> List<T> exchange(T mine) {
        throw computing();
    }

    @Override
    public long bufferBytes() {
        return 0;
    }

    private static IllegalStateException computing() {
        return new IllegalStateException("a network that is opened to prepare its weights was run; open it on ranks");
    }
}

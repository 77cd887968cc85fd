package io.kinema.compute.collective;

import io.kinema.compute.Tensor;
import io.kinema.compute.event.CollectiveEvent;
import java.util.List;
import java.util.Optional;

/** Counts and records what goes through another communicator. Owns nothing; used by the rank's thread, read by any. */
final class MeasuredCommunicator implements Communicator {
    private final Communicator base;
    private volatile Traffic traffic = Traffic.NONE;

    MeasuredCommunicator(Communicator base) {
        this.base = base;
    }

    Traffic traffic() {
        return traffic;
    }

    @Override
    public int rank() {
        return base.rank();
    }

    @Override
    public int size() {
        return base.size();
    }

    @Override
    public void allReduce(Tensor values) {
        measured("all-reduce", values, () -> base.allReduce(values));
    }

    @Override
    public void allGather(Tensor part, Tensor whole) {
        measured("all-gather", part, () -> base.allGather(part, whole));
    }

    private void measured(String operation, Tensor input, Runnable work) {
        long bytes = input.elements() * input.dtype().bytes();
        long start = System.nanoTime();
        CollectiveEvent.around(operation, "native", rank(), size(), bytes, () -> {
            work.run();
            return operation;
        });
        traffic = traffic.plus(bytes, (System.nanoTime() - start) / 1e9);
    }

    @Override
    public void barrier() {
        base.barrier();
    }

    @Override
    public boolean agree(boolean mine) {
        return base.agree(mine);
    }

    @Override
    public <T> List<T> exchange(T mine) {
        return base.exchange(mine);
    }

    @Override
    public long bufferBytes() {
        return base.bufferBytes();
    }

    @Override
    public Optional<PeerRows> peerRows(RowShares shares, int columns) {
        return base.peerRows(shares, columns);
    }

    @Override
    public Watch whenFailed(Runnable stop) {
        return base.whenFailed(stop);
    }
}

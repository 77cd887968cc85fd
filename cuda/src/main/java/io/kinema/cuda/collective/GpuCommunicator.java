package io.kinema.cuda.collective;

import io.kinema.compute.Tensor;
import io.kinema.compute.collective.Communicator;
import io.kinema.compute.collective.DeviceCommunicator;
import io.kinema.compute.collective.PeerRows;
import io.kinema.compute.collective.RowShares;
import io.kinema.cuda.memory.DeviceMemoryException;
import io.kinema.weights.DType;
import java.util.List;
import java.util.Optional;

/**
 * What ranks on GPUs have in common: decisions are made on the host, tensors are enqueued behind the rank's earlier operations, and a barrier orders the ranks'
 * streams. Owns the events for that until it is closed, which is when no rank works any more; closing twice is harmless. Used by the rank's thread.
 */
abstract class GpuCommunicator implements DeviceCommunicator {
    private final Communicator host;
    private final RankGpu gpu;
    private final StreamOrder order;

    GpuCommunicator(Communicator host, RankGpu gpu) {
        this.host = host;
        this.gpu = gpu;
        gpu.context().makeCurrent();
        this.order = new StreamOrder(host, gpu);
    }

    /** Enqueues the sum of the ranks' values, one tensor of each rank, in their order. */
    abstract void sum(List<Tensor> all);

    /** Enqueues the gather. @param parts one of each rank */
    abstract void gather(List<Tensor> parts, Tensor whole);

    final Communicator host() {
        return host;
    }

    final RankGpu gpu() {
        return gpu;
    }

    @Override
    public final int rank() {
        return host.rank();
    }

    @Override
    public final int size() {
        return host.size();
    }

    @Override
    public final void allReduce(Tensor values) {
        requireHere("all-reduce", values);
        if (values.dtype() != DType.F32) {
            throw new IllegalArgumentException("all-reduce: got " + values + ", expected F32");
        }
        if (size() > 1 && values.elements() > 0) {
            gpu.context().makeCurrent();
            sum(sameShapes("all-reduce", values));
        }
    }

    @Override
    public final void allGather(Tensor part, Tensor whole) {
        requireHere("all-gather", part);
        requireHere("all-gather", whole);
        if (whole.dtype() != part.dtype() || whole.elements() != part.elements() * size()) {
            throw new IllegalArgumentException("all-gather: got " + part + " into " + whole + ", expected " + size() + " times its rows");
        }
        if (part.elements() > 0) {
            gpu.context().makeCurrent();
            gather(sameShapes("all-gather", part), whole);
        }
    }

    @Override
    public final void barrier() {
        gpu.context().makeCurrent();
        order.meet();
    }

    @Override
    public final boolean agree(boolean mine) {
        return host.agree(mine);
    }

    @Override
    public final <T> List<T> exchange(T mine) {
        return host.exchange(mine);
    }

    @Override
    public final Watch whenFailed(Runnable stop) {
        return host.whenFailed(stop);
    }

    @Override
    public Optional<PeerRows> peerRows(RowShares shares, int columns) {
        gpu.context().makeCurrent();
        try {
            return Optional.of(new GpuPeerRows(gpu, rank(), shares, columns));
        } catch (DeviceMemoryException full) {
            return Optional.empty();
        }
    }

    private List<Tensor> sameShapes(String what, Tensor mine) {
        List<Tensor> all = host.exchange(mine);
        for (int other = 0; other < all.size(); other++) {
            Tensor theirs = all.get(other);
            if (!theirs.shape().equals(mine.shape()) || theirs.dtype() != mine.dtype()) {
                throw new IllegalArgumentException(what + ": got " + mine + " on rank " + rank() + " and " + theirs + " on rank " + other
                        + ", expected one shape and dtype");
            }
        }
        return all;
    }

    private void requireHere(String what, Tensor tensor) {
        if (!tensor.device().equals(gpu.operations().device()) || !tensor.contiguous()) {
            throw new IllegalArgumentException(what + ": got " + tensor + ", expected a contiguous tensor on " + gpu.operations().device());
        }
    }

    @Override
    public void close() {
        gpu.context().makeCurrent();
        order.close();
    }
}

package io.kinema.cuda.collective;

import io.kinema.compute.Tensor;
import io.kinema.compute.collective.Communicator;
import io.kinema.cuda.ffi.CudaException;
import io.kinema.cuda.nccl.Nccl;
import io.kinema.cuda.nccl.NcclGroup;
import java.util.List;
import java.util.Optional;

/**
 * Ranks with a GPU of their own, joined by NCCL. The order of its sums is NCCL's: fixed for a number of values, of ranks and a way to connect them. When a rank
 * fails, what the others may be waiting for on their GPUs is aborted; the next operation joins the GPUs anew. Owns its share of NCCL's communicators until it is closed.
 */
public final class NcclRing extends GpuCommunicator {
    private final Nccl nccl;
    private Optional<NcclGroup> group = Optional.empty();
    private Watch watch = () -> { };
    private long bufferBytes;

    /** Collective. */
    public NcclRing(Communicator host, RankGpu gpu, Nccl nccl) {
        super(host, gpu);
        this.nccl = nccl;
        joined();
    }

    /** The communicators of all ranks, made by the first rank where there are none or they were aborted. */
    private NcclGroup joined() {
        if (group.isPresent() && group.get().isOpen()) {
            return group.get();
        }
        long free = gpu().context().freeBytes();
        List<Integer> devices = exchange(gpu().operations().device().index());
        Optional<NcclGroup> made = rank() == 0 ? Optional.of(NcclGroup.open(nccl, devices)) : Optional.empty();
        NcclGroup all = exchange(made).getFirst().orElseThrow();
        bufferBytes = Math.max(0, free - gpu().context().freeBytes());
        watch.close();
        if (rank() == 0) {
            watch = whenFailed(all::abort);
        }
        group = Optional.of(all);
        return all;
    }

    @Override
    void sum(List<Tensor> all) {
        Tensor mine = all.get(rank());
        together(part(mine, mine), (nccl, parts) -> nccl.allReduce(parts, mine.elements()));
    }

    @Override
    void gather(List<Tensor> parts, Tensor whole) {
        Tensor mine = parts.get(rank());
        together(part(mine, whole), (nccl, all) -> nccl.allGather(all, mine.elements() * mine.dtype().bytes()));
    }

    /**
     * NCCL's reduce-scatter: this rank's rows of the sum of all ranks' values. Its order of addition is not that of {@link #allReduce}, so the bits differ: it is here
     * to show that, and no plan uses it.
     *
     * @param values FP32 [size * M, ...], contiguous
     * @param mine   FP32 [M, ...], contiguous
     */
    public void reduceScatter(Tensor values, Tensor mine) {
        if (mine.elements() * size() != values.elements()) {
            throw new IllegalArgumentException("reduce-scatter: got " + values + " into " + mine + ", expected a " + size() + "th of it");
        }
        together(part(values, mine), (nccl, parts) -> nccl.reduceScatter(parts, mine.elements()));
    }

    private NcclGroup.Part part(Tensor from, Tensor to) {
        return new NcclGroup.Part(from.data().address(), to.data().address(), gpu().operations().stream().handle());
    }

    @FunctionalInterface
    private interface Operation {
        void enqueue(NcclGroup group, List<NcclGroup.Part> parts);
    }

    /** The first rank enqueues for all, once all are here; the others go on when it has. */
    private void together(NcclGroup.Part mine, Operation operation) {
        NcclGroup all = joined();
        List<NcclGroup.Part> parts = exchange(mine);
        if (rank() == 0) {
            operation.enqueue(all, parts);
        }
        host().barrier();
    }

    @Override
    public long bufferBytes() {
        return bufferBytes;
    }

    @Override
    public void close() {
        super.close();
        watch.close();
        group.ifPresent(joined -> {
            try {
                gpu().operations().stream().synchronize();
                joined.leave();
            } catch (CudaException broken) {
                joined.abort();
                throw broken;
            }
        });
        group = Optional.empty();
    }
}

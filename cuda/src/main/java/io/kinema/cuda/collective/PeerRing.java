package io.kinema.cuda.collective;

import io.kinema.compute.Tensor;
import io.kinema.compute.collective.Communicator;
import io.kinema.compute.collective.RingOrder;
import io.kinema.cuda.kernel.Launches;
import java.util.List;

/**
 * Ranks whose kernels reach each other's buffers: on one GPU, which NCCL does not join, or on GPUs with access to each other's memory. Each rank adds its chunks of
 * a sum in the {@link RingOrder}, as ranks on the host do, with the same bits, and writes them to all ranks' tensors. It holds no buffers.
 */
public final class PeerRing extends GpuCommunicator {
    /** Buffers that the kernel takes. */
    public static final int MOST_RANKS = 8;

    private final int chunk;

    /** Collective. @param chunk values of a chunk, {@link RingOrder#CHUNK} outside of tests */
    public PeerRing(Communicator host, RankGpu gpu, int chunk) {
        super(host, gpu);
        if (host.size() > MOST_RANKS) {
            throw new IllegalArgumentException("ranks on one GPU: got " + host.size() + ", expected at most " + MOST_RANKS);
        }
        this.chunk = chunk;
    }

    @Override
    void sum(List<Tensor> all) {
        RingOrder order = new RingOrder(all.getFirst().elements(), chunk, size());
        long from = order.firstElement(rank());
        long to = order.firstElement(rank() + 1);
        barrier();
        if (to > from) {
            long[] peers = new long[MOST_RANKS];
            for (int rank = 0; rank < size(); rank++) {
                peers[rank] = all.get(rank).data().address();
            }
            gpu().operations().launcher().arguments().struct(peers).i32(size()).i64(from).i64(to).i64(chunk);
            gpu().operations().launcher().launch("kinema_ring_sum", Launches.loop((to - from) / 4 + 1));
        }
        // Nobody reads or changes its tensor before all have written to it.
        barrier();
    }

    @Override
    void gather(List<Tensor> parts, Tensor whole) {
        long bytes = parts.getFirst().elements() * parts.getFirst().dtype().bytes();
        barrier();
        for (int from = 0; from < size(); from++) {
            gpu().operations().stream().copy(parts.get(from).data().address(), whole.data().address() + from * bytes, bytes);
        }
        barrier();
    }

    @Override
    public long bufferBytes() {
        return 0;
    }
}

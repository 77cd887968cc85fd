package io.kinema.compute.collective;

import io.kinema.compute.Device;
import io.kinema.compute.Tensor;
import io.kinema.weights.DType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;

/**
 * Ranks whose tensors lie in the memory of one process. Sums are added in the {@link RingOrder}; each rank adds its chunks and writes the sums to all ranks'
 * tensors. Nobody else touches those chunks, so no buffer is needed.
 */
final class SharedRing implements Communicator {
    private static final ValueLayout.OfFloat F32 = ValueLayout.JAVA_FLOAT_UNALIGNED;

    private final Meeting meeting;
    private final int rank;
    private final int size;
    private final int chunk;

    SharedRing(Meeting meeting, int rank, int size, int chunk) {
        this.meeting = meeting;
        this.rank = rank;
        this.size = size;
        this.chunk = chunk;
    }

    @Override
    public int rank() {
        return rank;
    }

    @Override
    public int size() {
        return size;
    }

    @Override
    public void allReduce(Tensor values) {
        requireHost("all-reduce", values);
        if (values.dtype() != DType.F32) {
            throw new IllegalArgumentException("all-reduce: got " + values + ", expected F32");
        }
        if (size == 1) {
            return;
        }
        List<Tensor> all = sameShapes("all-reduce", values);
        RingOrder order = new RingOrder(values.elements(), chunk, size);
        float[] sum = new float[chunk];
        float[] next = new float[chunk];
        for (long c = order.firstChunk(rank); c < order.firstChunk(rank + 1); c++) {
            long at = c * chunk;
            add(all, at, (int) Math.min(chunk, values.elements() - at), order, sum, next);
        }
        meeting.join(rank, "all-reduce");
    }

    /** Adds one chunk and writes it to every rank. */
    private void add(List<Tensor> all, long at, int n, RingOrder order, float[] sum, float[] next) {
        long index = at / chunk;
        MemorySegment.copy(all.get(order.rankAt(index, 0)).data(), F32, at * Float.BYTES, sum, 0, n);
        for (int k = 1; k < size; k++) {
            MemorySegment.copy(all.get(order.rankAt(index, k)).data(), F32, at * Float.BYTES, next, 0, n);
            for (int i = 0; i < n; i++) {
                sum[i] += next[i];
            }
        }
        for (Tensor tensor : all) {
            MemorySegment.copy(sum, 0, tensor.data(), F32, at * Float.BYTES, n);
        }
    }

    @Override
    public void allGather(Tensor part, Tensor whole) {
        requireHost("all-gather", part);
        requireHost("all-gather", whole);
        long bytes = part.elements() * part.dtype().bytes();
        if (whole.dtype() != part.dtype() || whole.elements() != part.elements() * size) {
            throw new IllegalArgumentException("all-gather: got " + part + " into " + whole + ", expected " + size + " times its rows");
        }
        List<Tensor> all = sameShapes("all-gather", part);
        for (int from = 0; from < size; from++) {
            MemorySegment.copy(all.get(from).data(), 0, whole.data(), from * bytes, bytes);
        }
        meeting.join(rank, "all-gather");
    }

    @Override
    public void barrier() {
        meeting.join(rank, "barrier");
    }

    @Override
    public boolean agree(boolean mine) {
        return Arrays.stream(meeting.exchange(rank, "decision", mine)).allMatch(Boolean.TRUE::equals);
    }

    @Override
    public <T> List<T> exchange(T mine) {
        @SuppressWarnings("unchecked")
        List<T> all = (List<T>) List.of(meeting.exchange(rank, "exchange", mine));
        return all;
    }

    @Override
    public long bufferBytes() {
        return 0;
    }

    @Override
    public Watch whenFailed(Runnable stop) {
        return meeting.watch(stop);
    }

    private List<Tensor> sameShapes(String what, Tensor mine) {
        List<Tensor> all = exchange(mine);
        for (int other = 0; other < size; other++) {
            Tensor theirs = all.get(other);
            if (!theirs.shape().equals(mine.shape()) || theirs.dtype() != mine.dtype()) {
                throw new IllegalArgumentException(what + ": got " + mine + " on rank " + rank + " and " + theirs + " on rank " + other
                        + ", expected one shape and dtype");
            }
        }
        return all;
    }

    private static void requireHost(String what, Tensor tensor) {
        if (tensor.device().kind() != Device.Kind.CPU || !tensor.contiguous()) {
            throw new IllegalArgumentException(what + ": got " + tensor + ", expected a contiguous host tensor");
        }
    }
}

package io.kinema.compute.collective;

import io.kinema.compute.Tensor;
import java.util.List;
import java.util.Optional;

/**
 * One rank's end of a group. Every call is collective: all ranks make the same calls in the same order, and each returns when its own
 * result is there. Used by the rank's thread. A call that a rank cannot finish, because another one failed or does not come, throws
 * {@link RankAbortedException} or {@link RankTimeoutException}.
 *
 * <p>Determinism: the same values give the same bits in every run, and the same on every rank. The order of a sum is the implementation's own and
 * may differ from element to element, but depends only on the element's position, the number of values and the number of ranks.
 */
public interface Communicator {
    /** The one rank of a group that has no other; it can be used by any thread. */
    Communicator ALONE = new Alone();

    /** This rank, 0 to size - 1. */
    int rank();

    /** How many ranks there are. */
    int size();

    /**
     * Adds the ranks' values, element by element, in place.
     *
     * @param values FP32, contiguous, the same shape on every rank
     */
    void allReduce(Tensor values);

    /**
     * Puts the ranks' rows one below the other, in the order of ranks.
     *
     * @param part  [M, ...], contiguous, any dtype, the same shape on every rank
     * @param whole [size * M, ...] of the same dtype, contiguous
     */
    void allGather(Tensor part, Tensor whole);

    /** Waits for all ranks. */
    void barrier();

    /** True when all ranks say true. */
    boolean agree(boolean mine);

    /**
     * What every rank brings, in the order of ranks. Objects are shared, not copied: a tensor can be read by the others as long as its owner keeps it
     * and does not write to it, which takes a {@link #barrier()} of its own.
     */
    <T> List<T> exchange(T mine);

    /** Bytes of buffers that it holds for itself. */
    long bufferBytes();

    /**
     * Memory and arithmetic for an exact row reduction of FP32 [shares.rows(), columns] where this communicator's tensors lie.
     *
     * @return owned by the caller, closed on any rank's thread; empty when the device has not that much memory left
     */
    default Optional<PeerRows> peerRows(RowShares shares, int columns) {
        return HostPeerRows.allocate(rank(), shares, columns);
    }

    /**
     * Runs {@code stop} when a rank has failed, once for each failure of the group, on the thread that failed: it ends what the other ranks may be waiting for
     * outside of this communicator, such as a device.
     */
    default Watch whenFailed(Runnable stop) {
        return () -> { };
    }

    /** Takes what it was given for back; closing twice is harmless. */
    interface Watch extends AutoCloseable {
        @Override
        void close();
    }
}

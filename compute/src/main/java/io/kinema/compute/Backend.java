package io.kinema.compute;

import io.kinema.weights.DType;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.Optional;

/**
 * Owns one device's execution resources (threads, streams, libraries) until it is closed, and computes on tensors there.
 *
 * <p>Rules that hold for every operation: arguments are checked (shapes, dtypes, layout) and a mismatch is an
 * {@link IllegalArgumentException} that names the operation, the argument, what it got and what it expected; outputs are
 * written whole; inputs and outputs do not overlap unless the operation says they may; arithmetic is FP32 with FP32
 * accumulation unless stated, and values are rounded once, to nearest even, when stored in the output's dtype.
 * Operations are enqueued in order on the backend's own stream; the CPU's run at once. One thread at a time calls a backend.
 *
 * <p>Determinism: the same inputs give the same bits on one machine and configuration, whatever the thread count.
 */
public interface Backend extends FusedOps, AttentionOps, ConvolutionOps, MoveOps, PictureOps, WeightLoader,
        AutoCloseable {
    /** Short name: {@code reference}, {@code cpu}, {@code cuda}. */
    String name();

    Device device();

    /**
     * A second way onto the device for weights, used beside this backend.
     *
     * @return owned by the caller; empty when weights are brought in the order of this backend's own operations
     */
    default Optional<StagingLoader> stagingLoader() {
        return Optional.empty();
    }

    /** Page-locked host memory for copies to this device; empty where the device is the host. */
    default Optional<PageLockedMemory> pageLockedMemory() {
        return Optional.empty();
    }

    /** Bytes that its open workspaces hold from the device, or the system, now; 0 where nobody counts. */
    default long workspaceBytes() {
        return 0;
    }

    /**
     * Bytes that it holds for itself between operations, beside all workspaces: parts of weights decoded for a product, widened
     * operands, each worker's blocks. Reused by the next operation, so it is also the most that any operation so far took.
     */
    default long ownBytes() {
        return 0;
    }

    /**
     * Rows of one matrix product that keep the device busy. Whoever has several independent inputs may compute about so many rows
     * of them together; 0 says that nothing is gained by it.
     */
    default long rowsTogether() {
        return 0;
    }

    /**
     * Begins to copy a tensor's bytes to host memory, after what was enqueued so far. From a device to page-locked memory
     * ({@link #pageLockedMemory()}) the copy runs while the host goes on; elsewhere it is done when this returns.
     *
     * @param src contiguous; must stay as it is until something enqueued later changes it
     * @param to  at least as many bytes; must not be read before the copy has arrived
     */
    default Arrival download(Tensor src, MemorySegment to) {
        copy(src, Tensor.of(src.dtype(), src.shape(), to, Device.CPU));
        finish();
        return Arrival.DONE;
    }

    /** The native libraries it calls, by name, with their versions. */
    default Map<String, String> libraries() {
        return Map.of();
    }

    /** What it chose where it had a choice (kernels by shape, plans), for run records. */
    default Map<String, String> choices() {
        return Map.of();
    }

    /** Waits until everything enqueued has finished. */
    void finish();

    /**
     * Records what {@code work} would enqueue, without running it, where the backend can. Every tensor that it uses, scratch
     * included, must stay where it is as long as the recording is replayed; it must have run once before, so that plans are made. A
     * replay gives the same bits.
     *
     * @return owned by the caller; empty when this backend runs operations at once, or when the work copies from or to host memory
     */
    default Optional<Recording> record(Runnable work) {
        return Optional.empty();
    }

    /** Owns recorded work until it is closed; closing twice is harmless. */
    interface Recording extends AutoCloseable {
        /** Enqueues all of it. */
        void replay();

        @Override
        void close();
    }

    /** A point after everything enqueued so far, for measuring time on the device. */
    default TimeMark mark() {
        return TimeMark.host();
    }

    /** What it says of itself, up to now. */
    default BackendReport report() {
        return BackendReport.NONE;
    }

    @Override
    void close();
}

package io.kinema.compute;

import io.kinema.weights.StoredTensor;

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
public interface Backend extends LinearOps, NormOps, AttentionOps, ElementwiseOps, ConvolutionOps, MoveOps, AutoCloseable {
    /** Short name: {@code reference}, {@code cpu}, {@code cuda}. */
    String name();

    Device device();

    /** A new workspace for {@code owner} (used in messages and accounting). */
    Workspace workspace(String owner);

    /**
     * The stored tensor as a backend tensor: on the CPU a view of the map (no copy), on a device a copy in
     * {@code owner}'s memory. It dies with the source (CPU) or the workspace (device).
     */
    Tensor load(StoredTensor stored, Workspace owner);

    /** Waits until everything enqueued has finished. */
    void finish();

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

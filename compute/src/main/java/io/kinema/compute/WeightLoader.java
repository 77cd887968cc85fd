package io.kinema.compute;

import io.kinema.weights.StoredTensor;

/** Brings stored weights to a device: what a reader of weights needs of a {@link Backend}, or of a loader beside it. */
public interface WeightLoader {
    /** A new workspace for {@code owner} (used in messages and accounting). */
    Workspace workspace(String owner);

    /**
     * The stored tensor as a backend tensor: on the CPU a view of the map (no copy), on a device a copy in
     * {@code owner}'s memory. It dies with the source (CPU) or the workspace (device).
     */
    Tensor load(StoredTensor stored, Workspace owner);

    /** {@code dst = src} as {@link MoveOps#copy} does it, with the same bits. */
    void copy(Tensor src, Tensor dst);
}

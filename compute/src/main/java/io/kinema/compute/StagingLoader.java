package io.kinema.compute;

import io.kinema.weights.StoredTensor;

/**
 * Owns a second way onto a backend's device until it is closed, for bringing weights there while the backend computes. Closing
 * twice is harmless; its workspaces are closed before it, and it before its backend. Used by one thread at a time, which need
 * not be the backend's, but for {@link #computed()} and {@link #holdBackend}, which the backend's thread calls.
 *
 * <p>What it loads is not ordered with what the backend computes unless a {@link Fence} says so; memory that was in use before
 * may be written without one.
 */
public interface StagingLoader extends WeightLoader, AutoCloseable {
    /** A point in the order of one of the two. Owns it until it is closed, which may be before it is reached. */
    interface Fence extends AutoCloseable {
        /** Where calls return when their work is done, every point is reached. */
        Fence REACHED = () -> { };

        @Override
        void close();
    }

    /** True when it works while the backend computes; otherwise loading ahead gains nothing. */
    boolean beside();

    /** The point after everything loaded so far. */
    Fence loaded();

    /** The point after everything that the backend was told to compute so far. */
    Fence computed();

    /** What is loaded from now on is loaded after {@code fence}. */
    void waitFor(Fence fence);

    /** What the backend computes from now on is computed after {@code fence}. */
    void holdBackend(Fence fence);

    /** A point after everything loaded so far, for measuring time. */
    TimeMark mark();

    /** Waits until everything is loaded. */
    void finish();

    @Override
    void close();

    /** The backend itself as a loader: in its order, on its thread. Closing it closes nothing. */
    static StagingLoader inOrder(Backend backend) {
        return new StagingLoader() {
            @Override
            public Workspace workspace(String owner) {
                return backend.workspace(owner);
            }

            @Override
            public Tensor load(StoredTensor stored, Workspace owner) {
                return backend.load(stored, owner);
            }

            @Override
            public void copy(Tensor src, Tensor dst) {
                backend.copy(src, dst);
            }

            @Override
            public boolean beside() {
                return false;
            }

            @Override
            public Fence loaded() {
                return Fence.REACHED;
            }

            @Override
            public Fence computed() {
                return Fence.REACHED;
            }

            @Override
            public void waitFor(Fence fence) {
                // One order needs no fence.
            }

            @Override
            public void holdBackend(Fence fence) {
                // One order needs no fence.
            }

            @Override
            public TimeMark mark() {
                return backend.mark();
            }

            @Override
            public void finish() {
                backend.finish();
            }

            @Override
            public void close() {
                // The backend is its owner's.
            }
        };
    }
}

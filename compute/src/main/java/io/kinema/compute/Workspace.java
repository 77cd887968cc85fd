package io.kinema.compute;

import io.kinema.weights.DType;

/**
 * Owns scratch memory of one device until it is closed; a stack: what is allocated inside a {@link #frame()} is given
 * back when the frame closes, in LIFO order. Contents are undefined after allocation (tests poison them with NaN).
 * Used by one thread. Closing twice is harmless; allocation after close throws {@link IllegalStateException}.
 */
public interface Workspace extends AutoCloseable {
    /** A contiguous tensor, 64-byte aligned, valid until the enclosing frame or the workspace closes. */
    Tensor allocate(DType dtype, long... dims);

    /** {@link #allocate} of FP32. */
    default Tensor f32(long... dims) {
        return allocate(DType.F32, dims);
    }

    /** Opens a frame; frames nest and must be closed in reverse order (try-with-resources). */
    Frame frame();

    /** Bytes in use now. */
    long bytes();

    /** The most bytes ever in use at once. */
    long peakBytes();

    @Override
    void close();

    /** A scope of allocations. Closing gives its memory back; closing twice is harmless. */
    interface Frame extends AutoCloseable {
        @Override
        void close();
    }
}

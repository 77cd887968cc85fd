package io.kinema.model.video;

import io.kinema.compute.Backend;
import io.kinema.compute.Tensor;

/** Frames to encode, read a clip at a time so that a long video need not be in memory at once. */
public interface FrameSource {
    /** Number of frames, at least 1. */
    int count();

    /** Rows. */
    int height();

    /** Columns. */
    int width();

    /**
     * Writes frames [first, first + n) normalised as the network wants them ({@link ImageNetPixels}).
     *
     * @param frames FP32 [channels, n, height, width] on the backend, possibly strided; written whole
     */
    void read(int first, Tensor frames);

    /** Normalised frames that are already a tensor FP32 [channels, count, height, width]. */
    static FrameSource of(Backend backend, Tensor frames) {
        return new FrameSource() {
            @Override
            public int count() {
                return frames.size(1);
            }

            @Override
            public int height() {
                return frames.size(2);
            }

            @Override
            public int width() {
                return frames.size(3);
            }

            @Override
            public void read(int first, Tensor out) {
                backend.copy(frames.slice(1, first, (long) first + out.size(1)), out);
            }
        };
    }
}

package io.kinema.model.video;

import io.kinema.compute.Tensor;

/** Takes decoded frames as they become final, in order, without gaps. */
@FunctionalInterface
public interface FrameSink {
    /**
     * @param first  index of the first of these frames
     * @param frames FP32 [channels, n, height, width] on the backend, in ImageNet-normalised space ({@link ImageNetPixels});
     *               strided and valid only during the call
     */
    void frames(int first, Tensor frames);
}

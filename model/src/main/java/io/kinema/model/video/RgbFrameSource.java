package io.kinema.model.video;

import io.kinema.compute.Backend;
import io.kinema.compute.Device;
import io.kinema.compute.Tensor;
import java.util.function.IntFunction;

/** Pictures held as bytes, normalised on the host as they are read. */
record RgbFrameSource(Backend backend, int count, int height, int width, IntFunction<byte[]> frames) implements FrameSource {
    @Override
    public void read(int first, Tensor out) {
        boolean onHost = out.device().kind() == Device.Kind.CPU;
        Tensor staging = onHost ? null : Tensor.ofFloats(new float[3 * height * width], 3, height, width);
        for (int i = 0; i < out.size(1); i++) {
            Tensor frame = out.select(1, i);
            if (onHost) {
                ImageNetPixels.normalise(frames.apply(first + i), frame);
            } else {
                backend.finish();
                ImageNetPixels.normalise(frames.apply(first + i), staging);
                backend.copy(staging, frame);
            }
        }
        backend.finish();
    }
}

package io.kinema.model.video;

import io.kinema.compute.Backend;
import io.kinema.compute.Device;
import io.kinema.compute.Tensor;

/** Turns decoded frames into bytes (row, column, RGB), one picture at a time. */
public final class RgbFrameSink implements FrameSink {
    /** Takes one picture; the array is the taker's to keep. */
    @FunctionalInterface
    public interface Pictures {
        void picture(int index, byte[] rgb);
    }

    private final Backend backend;
    private final Pictures pictures;

    public RgbFrameSink(Backend backend, Pictures pictures) {
        this.backend = backend;
        this.pictures = pictures;
    }

    @Override
    public void frames(int first, Tensor frames) {
        Tensor host = onHost(frames);
        int plane = host.size(2) * host.size(3);
        for (int i = 0; i < host.size(1); i++) {
            byte[] rgb = new byte[3 * plane];
            ImageNetPixels.toBytes(host.select(1, i), rgb);
            pictures.picture(first + i, rgb);
        }
    }

    private Tensor onHost(Tensor frames) {
        if (frames.device().kind() == Device.Kind.CPU) {
            return frames;
        }
        Tensor copy = Tensor.ofFloats(new float[Math.toIntExact(frames.elements())], frames.shape().toArray());
        backend.copy(frames, copy);
        backend.finish();
        return copy;
    }
}

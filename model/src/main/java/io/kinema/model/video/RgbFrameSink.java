package io.kinema.model.video;

import io.kinema.compute.Backend;
import io.kinema.compute.Device;
import io.kinema.compute.Tensor;
import io.kinema.model.NonFiniteException;

/**
 * Turns decoded frames into bytes (row, column, RGB), one picture at a time. A frame with a value that is not finite is
 * refused by {@link NonFiniteException}: its bytes would look like a black picture.
 */
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
            if (!ImageNetPixels.toBytes(host.select(1, i), rgb)) {
                throw new NonFiniteException("decoded video, frame " + (first + i)
                        + ": got NaN or an infinity, expected finite pixels; use a precision plan with more range (fp32) or check the weights");
            }
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

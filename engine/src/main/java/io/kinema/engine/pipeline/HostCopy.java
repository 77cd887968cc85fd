package io.kinema.engine.pipeline;

import io.kinema.compute.Backend;
import io.kinema.compute.Device;
import io.kinema.compute.Tensor;

/** Brings tensors to the Java heap. */
final class HostCopy {
    private HostCopy() {
    }

    /** All values of a tensor on any device, row-major, once everything enqueued is done. */
    static float[] floats(Backend backend, Tensor tensor) {
        backend.finish();
        if (tensor.device().kind() == Device.Kind.CPU) {
            return tensor.toFloats();
        }
        Tensor copy = Tensor.ofFloats(new float[Math.toIntExact(tensor.elements())], tensor.shape().toArray());
        backend.copy(tensor, copy);
        backend.finish();
        return copy.toFloats();
    }
}

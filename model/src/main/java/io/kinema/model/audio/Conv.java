package io.kinema.model.audio;

import io.kinema.compute.Backend;
import io.kinema.compute.ConvolutionOps.Conv1d;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.model.load.Parameters;
import java.util.Optional;

/** A 1-d convolution with equal padding at both ends. */
record Conv(Conv1d conv) {
    /** A weight-normalised convolution with bias. */
    static Conv normed(Parameters p, int in, int out, int kernel, int stride, int dilation, int padding) {
        return of(WeightNorm.load(p, out, in, kernel), Optional.of(p.f32("bias", out)), stride, dilation, padding);
    }

    /** A weight-normalised convolution of stride 1 that keeps the length; odd kernel. */
    static Conv same(Parameters p, int in, int out, int kernel, int dilation) {
        return normed(p, in, out, kernel, 1, dilation, dilation * (kernel - 1) / 2);
    }

    /** {@link #same} without bias and dilation. */
    static Conv sameWithoutBias(Parameters p, int in, int out, int kernel) {
        return of(WeightNorm.load(p, out, in, kernel), Optional.empty(), 1, 1, (kernel - 1) / 2);
    }

    /** A kernel of one sample, not normalised. */
    static Conv point(Parameters p, int in, int out) {
        return of(p.f32("weight", out, in, 1), Optional.of(p.f32("bias", out)), 1, 1, 0);
    }

    private static Conv of(Tensor weight, Optional<Tensor> bias, int stride, int dilation, int padding) {
        return new Conv(new Conv1d(weight, bias, stride, dilation, padding, padding));
    }

    /** Room for the result on {@code x} [B, in, L]. */
    Tensor room(Tensor x, Workspace ws) {
        int reach = conv.dilation() * (conv.w().size(2) - 1) + 1;
        return ws.f32(x.size(0), conv.w().size(0), (x.size(2) + conv.padLeft() + conv.padRight() - reach) / conv.stride() + 1);
    }

    void apply(Backend backend, Tensor x, Tensor out) {
        backend.conv1d(x, conv, out);
    }
}

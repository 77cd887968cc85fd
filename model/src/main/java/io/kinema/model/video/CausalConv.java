package io.kinema.model.video;

import io.kinema.compute.Backend;
import io.kinema.compute.ConvolutionOps.Conv3d;
import io.kinema.compute.ConvolutionOps.SpatialPadding;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.model.load.Parameters;
import java.util.Optional;

/** A 3-d convolution that looks at past frames only (zero frames in front, none behind). */
record CausalConv(Conv3d conv) {
    private static final int KERNEL = 3;

    /** A 3x3x3 kernel that keeps the size: one pixel of padding on every side. */
    static CausalConv same(Parameters p, int in, int out, SpatialPadding padding) {
        return new CausalConv(new Conv3d(weight(p, in, out, KERNEL), bias(p, out), 1, 1, 1, KERNEL - 1, 1, 1, 1, 1, padding));
    }

    /** A 3x3x3 kernel that halves height and width, padded at the bottom and right only, and divides the frames. */
    static CausalConv down(Parameters p, int channels, int temporalFactor, SpatialPadding padding) {
        return new CausalConv(new Conv3d(weight(p, channels, channels, KERNEL), bias(p, channels), temporalFactor, 2, 2,
                KERNEL - 1, 0, 1, 0, 1, padding));
    }

    /** A 1x1x1 kernel. */
    static CausalConv point(Parameters p, int in, int out) {
        return new CausalConv(new Conv3d(weight(p, in, out, 1), bias(p, out), 1, 1, 1, 0, 0, 0, 0, 0, SpatialPadding.ZEROS));
    }

    private static Tensor weight(Parameters p, int in, int out, int kernel) {
        return p.f32("weight", out, in, kernel, kernel, kernel);
    }

    private static Optional<Tensor> bias(Parameters p, int out) {
        return Optional.of(p.f32("bias", out));
    }

    /** Room for the result of {@link #apply} on {@code x}. */
    Tensor room(Tensor x, Workspace ws) {
        return ws.f32(conv.w().size(0), steps(x.size(1) + conv.frontFrames(), 2, conv.strideT()),
                steps(x.size(2) + conv.top() + conv.bottom(), 3, conv.strideH()),
                steps(x.size(3) + conv.left() + conv.right(), 4, conv.strideW()));
    }

    private int steps(int padded, int kernelAxis, int stride) {
        return (padded - conv.w().size(kernelAxis)) / stride + 1;
    }

    void apply(Backend backend, Tensor x, Tensor out) {
        backend.conv3d(x, conv, out);
    }
}

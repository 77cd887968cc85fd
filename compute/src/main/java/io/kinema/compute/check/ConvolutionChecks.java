package io.kinema.compute.check;

import io.kinema.compute.ConvolutionOps.AntiAlias;
import io.kinema.compute.ConvolutionOps.Conv1d;
import io.kinema.compute.ConvolutionOps.Conv3d;
import io.kinema.compute.ConvolutionOps.SpatialPadding;
import io.kinema.compute.Device;
import io.kinema.compute.Tensor;
import java.util.Optional;

/** Arguments of {@link io.kinema.compute.ConvolutionOps}. */
record ConvolutionChecks(Device device) {

    void conv1d(Tensor x, Conv1d conv, Tensor out) {
        Arguments a = new Arguments("conv1d", device);
        dense(a, "x", x, 3);
        weights(a, conv.w(), conv.bias(), 3, x.shape().dim(1), out);
        positive(a, "stride", conv.stride());
        positive(a, "dilation", conv.dilation());
        notNegative(a, "padLeft", conv.padLeft());
        notNegative(a, "padRight", conv.padRight());
        long room = x.shape().dim(2) + conv.padLeft() + conv.padRight() - (long) conv.dilation() * (conv.w().size(2) - 1) - 1;
        a.require(room >= 0, "x", x, "a length that reaches the kernel's extent with its padding");
        output(a, x, out, x.shape().dim(0), conv.w().shape().dim(0), room / conv.stride() + 1);
    }

    void convTranspose1d(Tensor x, Tensor w, Optional<Tensor> bias, int stride, int padding, Tensor out) {
        Arguments a = new Arguments("convTranspose1d", device);
        dense(a, "x", x, 3);
        dense(a, "w", w, 3);
        a.require(w.size(0) == x.size(1) && w.size(2) > 0, "w", w, "[" + x.size(1) + ", O, k]");
        bias.ifPresent(b -> a.f32("bias", b, w.shape().dim(1)));
        positive(a, "stride", stride);
        notNegative(a, "padding", padding);
        a.require(x.size(2) > 0, "x", x, "at least one sample");
        long length = (x.shape().dim(2) - 1) * stride - 2L * padding + w.size(2);
        a.require(length > 0, "padding", padding, "less than half the full length");
        output(a, x, out, x.shape().dim(0), w.shape().dim(1), length);
        a.disjoint("w", w, out);
    }

    void conv3d(Tensor x, Conv3d conv, Tensor out) {
        Arguments a = new Arguments("conv3d", device);
        dense(a, "x", x, 4);
        weights(a, conv.w(), conv.bias(), 5, x.shape().dim(0), out);
        positive(a, "strideT", conv.strideT());
        positive(a, "strideH", conv.strideH());
        positive(a, "strideW", conv.strideW());
        notNegative(a, "frontFrames", conv.frontFrames());
        notNegative(a, "top", conv.top());
        notNegative(a, "bottom", conv.bottom());
        notNegative(a, "left", conv.left());
        notNegative(a, "right", conv.right());
        if (conv.mode() == SpatialPadding.REFLECT) {
            a.require(Math.max(conv.top(), conv.bottom()) < x.size(2), "x", x, "a height above the reflect padding");
            a.require(Math.max(conv.left(), conv.right()) < x.size(3), "x", x, "a width above the reflect padding");
        }
        output(a, x, out, conv.w().shape().dim(0),
                steps(a, x, x.shape().dim(1) + conv.frontFrames(), conv.w().size(2), conv.strideT()),
                steps(a, x, x.shape().dim(2) + conv.top() + conv.bottom(), conv.w().size(3), conv.strideH()),
                steps(a, x, x.shape().dim(3) + conv.left() + conv.right(), conv.w().size(4), conv.strideW()));
    }

    void antiAliasedSnake(Tensor x, AntiAlias filters, Tensor alpha, Tensor invBeta, Tensor out) {
        Arguments a = new Arguments("antiAliasedSnake", device);
        dense(a, "x", x, 3);
        a.require(x.size(2) > 0, "x", x, "at least one sample");
        a.require(filters.ratio() >= 1, "ratio", filters.ratio(), "at least 1");
        Tensor up = a.f32("upFilter", filters.upFilter(), 1);
        Tensor down = a.f32("downFilter", filters.downFilter(), 1);
        a.require(up.size(0) >= filters.ratio(), "upFilter", up, "at least ratio taps");
        a.require(down.size(0) >= 1, "downFilter", down, "at least one tap");
        a.f32("alpha", alpha, x.shape().dim(1));
        a.f32("invBeta", invBeta, x.shape().dim(1));
        a.f32("out", out, x.shape().toArray());
        a.contiguous("out", out);
        a.sameOrDisjoint("x", x, out);
    }

    private static void dense(Arguments a, String name, Tensor t, int rank) {
        a.f32(name, t, rank);
        a.contiguous(name, t);
    }

    private static void weights(Arguments a, Tensor w, Optional<Tensor> bias, int rank, long channels, Tensor out) {
        dense(a, "w", w, rank);
        a.require(w.shape().dim(1) == channels, "w", w, channels + " input channels as in x");
        for (int i = 2; i < rank; i++) {
            a.require(w.size(i) > 0, "w", w, "kernel sizes of at least 1");
        }
        bias.ifPresent(b -> a.f32("bias", b, w.shape().dim(0)));
        a.disjoint("w", w, out);
    }

    private static void output(Arguments a, Tensor x, Tensor out, long... dims) {
        a.f32("out", out, dims);
        a.contiguous("out", out);
        a.disjoint("x", x, out);
    }

    private static long steps(Arguments a, Tensor x, long padded, int kernel, int stride) {
        a.require(padded >= kernel, "x", x, "axes that reach the kernel's sizes with their padding");
        return (padded - kernel) / stride + 1;
    }

    private static void positive(Arguments a, String name, int value) {
        a.require(value > 0, name, value, "at least 1");
    }

    private static void notNegative(Arguments a, String name, int value) {
        a.require(value >= 0, name, value, "at least 0");
    }
}

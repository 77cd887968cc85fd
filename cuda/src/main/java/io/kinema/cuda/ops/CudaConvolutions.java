package io.kinema.cuda.ops;

import io.kinema.compute.ConvolutionOps;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.cuda.driver.GpuFunction.Grid;
import java.util.Optional;

/** Convolutions as implicit FP32 products, and BigVGAN's anti-aliased activation. Everything is contiguous FP32. */
public final class CudaConvolutions implements ConvolutionOps {
    private static final int BLOCK = 256;
    private static final int NARROW_OUTPUTS = 16;
    private static final int NARROW_POSITIONS = 256;
    private static final int WIDE_OUTPUTS = 64;
    private static final int WIDE_POSITIONS = 128;
    private static final int MOST_GRID = 65535;

    private final OpContext c;

    public CudaConvolutions(OpContext context) {
        this.c = context;
    }

    @Override
    public void conv1d(Tensor x, Conv1d conv, Tensor out) {
        Tensor w = conv.w();
        convolve(x, w, conv.bias(), out, x.size(0), out.size(2),
                x.size(0), x.size(1), 1, 1, x.size(2), w.size(0), 1, 1, out.size(2), 1, 1, w.size(2),
                1, 1, conv.stride(), 1, 1, conv.dilation(), 0, 0, conv.padLeft(), 0);
    }

    @Override
    public void conv3d(Tensor x, Conv3d conv, Tensor out) {
        Tensor w = conv.w();
        convolve(x, w, conv.bias(), out, 1, (long) out.size(1) * out.size(2) * out.size(3),
                1, x.size(0), x.size(1), x.size(2), x.size(3), w.size(0), out.size(1), out.size(2), out.size(3), w.size(2), w.size(3), w.size(4),
                conv.strideT(), conv.strideH(), conv.strideW(), 1, 1, 1, conv.frontFrames(), conv.top(), conv.left(),
                conv.mode() == SpatialPadding.REFLECT ? 1 : 0);
    }

    /** @param geometry in the order of the kernels' structure */
    private void convolve(Tensor x, Tensor w, Optional<Tensor> bias, Tensor out, int batch, long positions, int... geometry) {
        if (out.elements() == 0) {
            return;
        }
        int outputs = w.size(0);
        boolean narrow = outputs <= NARROW_OUTPUTS;
        c.launcher().arguments().tensor(x).tensor(w).tensor(bias).tensor(out).struct(new long[0], geometry);
        c.launcher().launch(narrow ? "kinema_conv_narrow" : "kinema_conv_wide", Grid.of(Math.ceilDiv(positions, narrow ? NARROW_POSITIONS : WIDE_POSITIONS),
                Math.ceilDiv(outputs, narrow ? NARROW_OUTPUTS : WIDE_OUTPUTS), batch, BLOCK));
    }

    @Override
    public void convTranspose1d(Tensor x, Tensor w, Optional<Tensor> bias, int stride, int padding, Tensor out) {
        if (out.elements() == 0) {
            return;
        }
        int length = out.size(2);
        c.launcher().arguments().tensor(x).tensor(w).tensor(bias).tensor(out).i32(x.size(0)).i32(x.size(1)).i32(x.size(2)).i32(w.size(1)).i32(length)
                .i32(w.size(2)).i32(stride).i32(padding);
        c.launcher().launch("kinema_conv_transpose1d", Grid.of(Math.ceilDiv(Math.ceilDiv(length, stride) + 1, 64), Math.ceilDiv(w.size(1), 64),
                (long) x.size(0) * stride, BLOCK));
    }

    @Override
    public void antiAliasedSnake(Tensor x, AntiAlias filters, Tensor alpha, Tensor invBeta, Tensor out) {
        if (out.elements() == 0) {
            return;
        }
        try (Workspace.Frame _ = c.scratch().frame()) {
            boolean inPlace = x.data().address() == out.data().address();
            Tensor in = inPlace ? c.contiguous(x) : x;
            int channels = x.size(1);
            int downTaps = filters.downFilter().size(0);
            c.launcher().arguments().tensor(in).tensor(filters.upFilter()).i32(filters.upFilter().size(0)).tensor(filters.downFilter()).i32(downTaps)
                    .i32(filters.ratio()).tensor(alpha).tensor(invBeta).tensor(out).i32(x.size(2)).i32(channels).i32(x.size(0) * channels);
            c.launcher().launch("kinema_anti_aliased_snake", Grid.of(Math.ceilDiv(x.size(2), BLOCK), Math.min(MOST_GRID, (long) x.size(0) * channels), 1, BLOCK),
                    4 * ((BLOCK - 1) * filters.ratio() + downTaps));
        }
    }
}

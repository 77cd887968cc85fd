package io.kinema.cuda.ops;

import io.kinema.compute.ElementwiseOps;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.cuda.kernel.Launches;
import io.kinema.cuda.kernel.RowView;
import java.util.Optional;

/** Element-wise operations: one launch each. */
public final class CudaElementwise implements ElementwiseOps {
    private static final int SILU = 0;
    private static final int GELU_TANH = 1;
    private static final int GELU_ERF = 2;
    private static final int SCALE = 3;
    private static final int CLAMP = 4;
    private static final int ADD = 0;
    private static final int SWIGLU = 1;
    private static final int GEGLU = 2;

    private final OpContext c;

    public CudaElementwise(OpContext context) {
        this.c = context;
    }

    private void unary(int op, Tensor x, Tensor out, float a, float b) {
        if (out.elements() == 0) {
            return;
        }
        if (x.contiguous() && out.contiguous()) {
            unary(op, x, RowView.flat(x), out, RowView.flat(out), a, b);
            return;
        }
        try (Workspace.Frame _ = c.scratch().frame()) {
            Tensor in = c.readable(x);
            c.writing(out, to -> unary(op, in, OpContext.rows(in), to, OpContext.rows(to), a, b));
        }
    }

    private void unary(int op, Tensor x, RowView from, Tensor out, RowView to, float a, float b) {
        c.launcher().arguments().i32(op).rows(from).type(x.dtype()).rows(to).type(out.dtype()).i64(to.rows()).i64(to.width()).f32(a).f32(b);
        c.launcher().launch("kinema_unary", Launches.elements(to.rows(), to.width()));
    }

    private void binary(int op, Tensor a, Tensor b, Tensor out) {
        if (out.elements() == 0) {
            return;
        }
        if (a.contiguous() && b.contiguous() && out.contiguous()) {
            binary(op, a, RowView.flat(a), b, RowView.flat(b), out, RowView.flat(out));
            return;
        }
        try (Workspace.Frame _ = c.scratch().frame()) {
            Tensor x = c.readable(a);
            Tensor y = c.readable(b);
            c.writing(out, to -> binary(op, x, OpContext.rows(x), y, OpContext.rows(y), to, OpContext.rows(to)));
        }
    }

    private void binary(int op, Tensor a, RowView x, Tensor b, RowView y, Tensor out, RowView to) {
        c.launcher().arguments().i32(op).rows(x).type(a.dtype()).rows(y).type(b.dtype()).rows(to).type(out.dtype()).i64(to.rows()).i64(to.width());
        c.launcher().launch("kinema_binary", Launches.elements(to.rows(), to.width()));
    }

    @Override
    public void swiglu(Tensor gate, Tensor up, Tensor out) {
        binary(SWIGLU, gate, up, out);
    }

    @Override
    public void geglu(Tensor gate, Tensor up, Tensor out) {
        binary(GEGLU, gate, up, out);
    }

    @Override
    public void silu(Tensor x, Tensor out) {
        unary(SILU, x, out, 0, 0);
    }

    @Override
    public void geluTanh(Tensor x, Tensor out) {
        unary(GELU_TANH, x, out, 0, 0);
    }

    @Override
    public void geluErf(Tensor x, Tensor out) {
        unary(GELU_ERF, x, out, 0, 0);
    }

    @Override
    public void add(Tensor a, Tensor b, Tensor out) {
        binary(ADD, a, b, out);
    }

    @Override
    public void scale(Tensor x, float factor, Tensor out) {
        unary(SCALE, x, out, factor, 0);
    }

    @Override
    public void clamp(Tensor x, float low, float high, Tensor out) {
        unary(CLAMP, x, out, low, high);
    }

    @Override
    public void addScaled(Tensor x, float factor, Tensor out) {
        if (out.elements() == 0) {
            return;
        }
        RowView from = OpContext.rows(x);
        RowView to = OpContext.rows(out);
        c.launcher().arguments().rows(from).f32(factor).rows(to).i64(to.rows()).i64(to.width());
        c.launcher().launch("kinema_add_scaled", Launches.elements(to.rows(), to.width()));
    }

    @Override
    public void gatedResidualAdd(Tensor residual, Tensor x, Optional<RowGate> gate) {
        if (residual.elements() == 0) {
            return;
        }
        RowView sum = OpContext.rows(residual);
        RowView in = OpContext.rows(x);
        c.launcher().arguments().rows(sum).rows(in).type(x.dtype()).tensor(gate.map(RowGate::table)).i64(gate.map(g -> g.table().stride(0)).orElse(0L))
                .tensor(gate.flatMap(RowGate::rowIndex)).i64(sum.rows()).i64(sum.width());
        c.launcher().launch("kinema_gated_residual_add", Launches.elements(sum.rows(), sum.width()));
    }

    @Override
    public void snake(Tensor x, Tensor alpha, Tensor invBeta, Tensor out) {
        if (out.elements() == 0) {
            return;
        }
        try (Workspace.Frame _ = c.scratch().frame()) {
            Tensor in = c.readable(x);
            c.writing(out, to -> {
                RowView rows = OpContext.rows(to);
                c.launcher().arguments().rows(OpContext.rows(in)).tensor(alpha).tensor(invBeta).rows(rows).i64(rows.rows()).i64(rows.width())
                        .i64(alpha.size(0));
                c.launcher().launch("kinema_snake", Launches.elements(rows.rows(), rows.width()));
            });
        }
    }

    @Override
    public void channelAffine(Tensor x, Tensor scale, Tensor shift, Tensor out) {
        if (out.elements() == 0) {
            return;
        }
        try (Workspace.Frame _ = c.scratch().frame()) {
            Tensor in = x.contiguous() ? x : c.contiguous(x);
            Tensor to = out.contiguous() ? out : c.scratch().allocate(out.dtype(), out.shape().toArray());
            long channels = x.shape().dim(0);
            long width = x.elements() / channels;
            RowView from = new RowView(in.data().address(), width, 0, 1, channels, width);
            RowView rows = new RowView(to.data().address(), width, 0, 1, channels, width);
            c.launcher().arguments().rows(from).type(in.dtype()).tensor(scale).type(scale.dtype()).tensor(shift).type(shift.dtype())
                    .rows(rows).type(to.dtype()).i64(channels).i64(width).i64(1);
            c.launcher().launch("kinema_channel_affine", Launches.elements(channels, width));
            if (to != out) {
                StridedMoves.copy(c, to, out);
            }
        }
    }
}

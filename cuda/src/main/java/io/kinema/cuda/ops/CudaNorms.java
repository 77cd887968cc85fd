package io.kinema.cuda.ops;

import io.kinema.compute.NormOps;
import io.kinema.compute.Operand;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.cuda.driver.GpuFunction.Grid;
import io.kinema.cuda.kernel.Launches;
import io.kinema.cuda.kernel.RowView;
import io.kinema.weights.DType;
import java.util.Optional;

/** Normalisation, alone or fused with what follows it. */
public final class CudaNorms implements NormOps {
    private static final int BLOCK = 256;
    private static final int VECTOR = 8;
    private static final int VECTOR_BYTES = 16;
    private static final int MOST_NARROW = 2048;
    private static final int NARROW_ROWS = 8;
    private static final int GROUP_CHUNK = 8192;
    private static final int MOST_CHUNKS = 64;
    private static final int PARTIAL_DOUBLES = 2;
    /** Neighbouring heads of a row that one group of lanes takes. */
    private static final int HEADS_AT_ONCE = 4;

    private final OpContext c;

    public CudaNorms(OpContext context) {
        this.c = context;
    }

    @Override
    public void rmsNorm(Tensor x, Optional<Tensor> weight, float eps, Tensor out) {
        if (out.elements() == 0) {
            return;
        }
        if (x.dtype() == DType.F32 && narrow(x) && narrow(out)) {
            narrow(x, weight, eps, out, Optional.empty());
            return;
        }
        try (Workspace.Frame _ = c.scratch().frame()) {
            Tensor in = c.readable(x);
            c.writing(out, to -> {
                RowView rows = OpContext.rows(to);
                c.launcher().arguments().rows(OpContext.rows(in)).type(in.dtype()).tensor(weight).type(weight).f32(eps).rows(rows).type(to.dtype())
                        .i64(rows.rows()).i64(rows.width());
                c.launcher().launch("kinema_rms_norm", Launches.rows(rows.rows(), rows.width()));
            });
        }
    }

    /** Rows that one warp takes: of whole vectors, at most {@link #MOST_NARROW} values. */
    private static boolean narrow(Tensor t) {
        return t.rank() == 2 && t.size(1) <= MOST_NARROW && t.size(1) % VECTOR == 0 && t.stride(1) == 1 && t.stride(0) % VECTOR == 0
                && t.data().address() % VECTOR_BYTES == 0;
    }

    private void narrow(Tensor x, Optional<Tensor> weight, float eps, Tensor out, Optional<Tensor> rowScale) {
        c.launcher().arguments().tensor(x).i64(x.stride(0)).tensor(weight).type(weight).f32(eps).tensor(out).i64(out.stride(0)).type(out.dtype())
                .tensor(rowScale).i64(x.size(0)).i64(x.size(1));
        c.launcher().launch("kinema_rms_norm_narrow", Grid.of(Math.ceilDiv(x.size(0), NARROW_ROWS), BLOCK));
    }

    /** The norm straight into an FP16 operand, whose FP32 values are never stored; empty where rows are too wide for that. */
    public Optional<Operand> prepareRmsNormF16(Tensor x, Optional<Tensor> weight, float eps, Workspace ws) {
        if (x.dtype() != DType.F32 || x.elements() == 0 || !narrow(x) || weight.filter(w -> !w.contiguous()).isPresent()) {
            return Optional.empty();
        }
        Tensor values = ws.allocate(DType.F16, x.size(0), x.size(1));
        Tensor scale = ws.f32(x.size(0));
        narrow(x, weight, eps, values, Optional.of(scale));
        return Optional.of(new Operand(values, Optional.of(scale)));
    }

    @Override
    public void rmsNormModulate(Tensor x, Tensor weight, float eps, RowModulation modulation, Tensor out) {
        if (out.elements() == 0) {
            return;
        }
        c.launcher().arguments().tensor(x).i64(x.stride(0)).tensor(weight).type(weight.dtype()).f32(eps)
                .tensor(modulation.shift()).i64(modulation.shift().stride(0)).tensor(modulation.scale()).i64(modulation.scale().stride(0))
                .tensor(modulation.rowIndex()).tensor(out).i64(out.stride(0)).type(out.dtype()).i64(x.size(0)).i64(x.size(1));
        c.launcher().launch("kinema_rms_norm_modulate", Launches.rows(x.size(0), x.size(1)));
    }

    @Override
    public void layerNorm(Tensor x, Optional<Tensor> weight, Optional<Tensor> bias, float eps, Tensor out) {
        if (out.elements() == 0) {
            return;
        }
        try (Workspace.Frame _ = c.scratch().frame()) {
            Tensor in = c.readable(x);
            c.writing(out, to -> {
                RowView rows = OpContext.rows(to);
                c.launcher().arguments().rows(OpContext.rows(in)).type(in.dtype()).tensor(weight).type(weight).tensor(bias).type(bias).f32(eps)
                        .rows(rows).type(to.dtype()).i64(rows.rows()).i64(rows.width());
                c.launcher().launch("kinema_layer_norm", Launches.rows(rows.rows(), rows.width()));
            });
        }
    }

    @Override
    public void groupNormPerFrame(Tensor x, int groups, Tensor weight, Tensor bias, float eps, boolean silu, Tensor out) {
        if (out.elements() == 0) {
            return;
        }
        int channels = x.size(0) / groups;
        int frames = x.size(1);
        long area = (long) x.size(2) * x.size(3);
        int chunks = (int) Math.clamp(channels * area / GROUP_CHUNK, 1, MOST_CHUNKS);
        Grid grid = Grid.of(chunks, frames, groups, BLOCK);
        try (Workspace.Frame _ = c.scratch().frame()) {
            Tensor in = x.contiguous() ? x : c.contiguous(x);
            Tensor to = out.contiguous() ? out : c.scratch().allocate(out.dtype(), out.shape().toArray());
            Tensor partial = c.scratch().allocate(DType.F64, PARTIAL_DOUBLES, groups, frames, chunks);
            Tensor w = f32(weight);
            Tensor b = f32(bias);
            c.launcher().arguments().tensor(in).tensor(partial).i32(channels).i32(frames).i64(area).i32(chunks);
            c.launcher().launch("kinema_group_norm_stats", grid);
            c.launcher().arguments().tensor(in).tensor(partial).tensor(w).tensor(b).f32(eps).i32(silu ? 1 : 0).tensor(to).type(to.dtype())
                    .i32(channels).i32(frames).i64(area).i32(chunks);
            c.launcher().launch("kinema_group_norm_apply", grid);
            if (to != out) {
                StridedMoves.copy(c, to, out);
            }
        }
    }

    private Tensor f32(Tensor t) {
        if (t.dtype() == DType.F32 && t.contiguous()) {
            return t;
        }
        Tensor wide = c.scratch().f32(t.shape().toArray());
        StridedMoves.copy(c, t, wide);
        return wide;
    }

    @Override
    public void headNormRotary(Tensor x, Optional<HeadNorm> norm, Optional<Rotary> rotary, Tensor out) {
        if (out.elements() == 0) {
            return;
        }
        int heads = x.size(1);
        int width = x.size(2);
        int group = Integer.highestOneBit(2 * Math.ceilDiv(width, VECTOR) - 1);
        Optional<Tensor> weight = norm.flatMap(HeadNorm::weight);
        Optional<Tensor> cos = rotary.map(Rotary::cos);
        Optional<Tensor> sin = rotary.map(Rotary::sin);
        c.launcher().arguments().tensor(x).i64(x.stride(0)).i64(x.stride(1)).type(x.dtype()).i32(norm.isPresent() ? 1 : 0)
                .tensor(weight).type(weight).f32(norm.map(HeadNorm::eps).orElse(0f))
                .tensor(cos).i64(cos.map(t -> t.stride(0)).orElse(0L)).tensor(sin).i64(sin.map(t -> t.stride(0)).orElse(0L)).type(cos)
                .i32(cos.map(t -> t.size(1)).orElse(0)).tensor(out).i64(out.stride(0)).i64(out.stride(1)).type(out.dtype())
                .i64(x.size(0)).i32(heads).i32(width);
        c.launcher().launch("kinema_head_norm_rotary", Grid.of(Math.ceilDiv((long) x.size(0) * Math.ceilDiv(heads, HEADS_AT_ONCE), BLOCK / group), BLOCK));
    }
}

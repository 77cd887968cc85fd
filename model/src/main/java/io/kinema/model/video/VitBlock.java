package io.kinema.model.video;

import io.kinema.compute.Backend;
import io.kinema.compute.ElementwiseOps.RowGate;
import io.kinema.compute.NormOps.HeadNorm;
import io.kinema.compute.NormOps.Rotary;
import io.kinema.compute.Operand;
import io.kinema.compute.Tensor;
import io.kinema.compute.Weight;
import io.kinema.compute.Workspace;
import io.kinema.model.load.Parameters;
import io.kinema.weights.DType;
import java.util.Optional;

/**
 * One transformer block of the decoder: {@code x += scale1 * attention(rmsNorm(x)); x += scale2 * swiglu(rmsNorm(x))}, with
 * q and k normalised per head (no affine) before the rotary embedding. The residual rows x stay FP32.
 */
final class VitBlock {
    private record Affine(Weight weight, Tensor bias) {
        static Affine load(Parameters p, int out, int in) {
            return new Affine(p.matrix("weight", out, in), p.f32("bias", out));
        }
    }

    private final Backend backend;
    private final VideoVaeConfig.Vit vit;
    private final DType operand;
    private final Tensor norm1;
    private final Affine query;
    private final Affine key;
    private final Affine value;
    private final Affine attentionOut;
    private final RowGate scale1;
    private final Tensor norm2;
    private final Affine up;
    private final Affine down;
    private final RowGate scale2;

    /** @param operand dtype of the rows that enter matrix products and attention */
    VitBlock(Parameters p, VideoVaeConfig.Vit vit, DType operand) {
        int dim = vit.dim();
        int inner = dim * vit.ffnMult();
        backend = p.backend();
        this.vit = vit;
        this.operand = operand;
        norm1 = p.f32("norm1.weight", dim);
        query = Affine.load(p.under("attn.to_q."), dim, dim);
        key = Affine.load(p.under("attn.to_k."), dim, dim);
        value = Affine.load(p.under("attn.to_v."), dim, dim);
        attentionOut = Affine.load(p.under("attn.to_out.0."), dim, dim);
        scale1 = gate(p, "scale1", dim);
        norm2 = p.f32("norm2.weight", dim);
        up = Affine.load(p.under("ff.net.0.proj."), 2 * inner, dim);
        down = Affine.load(p.under("ff.net.2."), dim, inner);
        scale2 = gate(p, "scale2", dim);
    }

    private static RowGate gate(Parameters p, String name, int dim) {
        return new RowGate(p.f32(name, dim).reshape(1, dim), Optional.empty());
    }

    /**
     * @param x     FP32 [tokens * tiles, dim], token by token; updated in place
     * @param tiles whose tokens attend to their own tile's only
     */
    void apply(Tensor x, int tiles, Rotary rotary, Workspace ws) {
        try (Workspace.Frame frame = ws.frame()) {
            attend(x, tiles, rotary, ws);
        }
        try (Workspace.Frame frame = ws.frame()) {
            feedForward(x, ws);
        }
    }

    private void attend(Tensor x, int tiles, Rotary rotary, Workspace ws) {
        int rows = x.size(0);
        int dim = vit.dim();
        Operand in = backend.prepareRmsNorm(x, Optional.of(norm1), vit.normEps(), operand, ws);
        // A tile's heads are heads of their own: row t of the view holds token t of every tile.
        Tensor q = heads(ws.allocate(operand, rows, dim), tiles);
        Tensor k = heads(ws.allocate(operand, rows, dim), tiles);
        Tensor v = ws.allocate(operand, rows, dim);
        HeadNorm norm = new HeadNorm(Optional.empty(), vit.normEps());
        backend.linearHeads(in, query.weight(), Optional.of(query.bias()), norm, rotary, q);
        backend.linearHeads(in, key.weight(), Optional.of(key.bias()), norm, rotary, k);
        backend.linear(in, value.weight(), Optional.of(value.bias()), v);
        // The normed rows have been read; their memory takes what attention mixes: means of v, which need no scale of their own.
        Tensor mixed = in.values();
        float scale = (float) (1 / Math.sqrt(vit.headDim()));
        backend.attention(q, k, heads(v, tiles), scale, false, heads(mixed, tiles));
        backend.linearResidual(Operand.of(mixed), attentionOut.weight(), Optional.of(attentionOut.bias()), scale1, x, ws);
    }

    /** [tokens * tiles, dim] as [tokens, tiles * heads, head dim]. */
    private Tensor heads(Tensor rows, int tiles) {
        return rows.reshape(rows.size(0) / tiles, (long) tiles * vit.heads(), vit.headDim());
    }

    private void feedForward(Tensor x, Workspace ws) {
        Operand in = backend.prepareRmsNorm(x, Optional.of(norm2), vit.normEps(), operand, ws);
        // The checkpoint stores the value half first and the gate half second.
        Operand gated = backend.linearSwiglu(in, up.weight(), Optional.of(up.bias()), false, operand, ws);
        backend.linearResidual(gated, down.weight(), Optional.of(down.bias()), scale2, x, ws);
    }
}

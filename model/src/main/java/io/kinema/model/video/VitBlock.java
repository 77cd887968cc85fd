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

        void apply(Backend backend, Operand x, Tensor out) {
            backend.linear(x, weight, Optional.of(bias), out);
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
        Tensor normed = ws.f32(rows, dim);
        Tensor q = ws.allocate(operand, rows, dim);
        Tensor k = ws.allocate(operand, rows, dim);
        Tensor v = ws.allocate(operand, rows, dim);
        backend.rmsNorm(x, Optional.of(norm1), vit.normEps(), normed);
        Operand in = backend.prepare(normed, operand, ws);
        query.apply(backend, in, q);
        key.apply(backend, in, k);
        value.apply(backend, in, v);
        // A tile's heads are heads of their own: row t of the view holds token t of every tile.
        Tensor qHeads = heads(q, tiles);
        Tensor kHeads = heads(k, tiles);
        Optional<HeadNorm> headNorm = Optional.of(new HeadNorm(Optional.empty(), vit.normEps()));
        backend.headNormRotary(qHeads, headNorm, Optional.of(rotary), qHeads);
        backend.headNormRotary(kHeads, headNorm, Optional.of(rotary), kHeads);
        // The normed rows have been read; their memory takes the attention result, then the projection.
        Tensor mixed = heads(normed, tiles);
        float scale = (float) (1 / Math.sqrt(vit.headDim()));
        backend.attention(qHeads, kHeads, heads(v, tiles), scale, false, mixed);
        Tensor projected = ws.f32(rows, dim);
        attentionOut.apply(backend, backend.prepare(normed, operand, ws), projected);
        backend.gatedResidualAdd(x, projected, Optional.of(scale1));
    }

    /** [tokens * tiles, dim] as [tokens, tiles * heads, head dim]. */
    private Tensor heads(Tensor rows, int tiles) {
        return rows.reshape(rows.size(0) / tiles, (long) tiles * vit.heads(), vit.headDim());
    }

    private void feedForward(Tensor x, Workspace ws) {
        int rows = x.size(0);
        int inner = vit.dim() * vit.ffnMult();
        Tensor normed = ws.f32(rows, vit.dim());
        backend.rmsNorm(x, Optional.of(norm2), vit.normEps(), normed);
        Tensor both = ws.f32(rows, 2L * inner);
        up.apply(backend, backend.prepare(normed, operand, ws), both);
        // The checkpoint stores the value half first and the gate half second.
        Tensor gated = ws.f32(rows, inner);
        backend.swiglu(both.slice(1, inner, 2L * inner), both.slice(1, 0, inner), gated);
        down.apply(backend, backend.prepare(gated, operand, ws), normed);
        backend.gatedResidualAdd(x, normed, Optional.of(scale2));
    }
}

package io.kinema.model.audio;

import io.kinema.compute.Backend;
import io.kinema.compute.Operand;
import io.kinema.compute.Tensor;
import io.kinema.compute.Weight;
import io.kinema.compute.Workspace;
import io.kinema.model.StageTap;
import io.kinema.model.load.Parameters;
import java.util.Optional;

/**
 * The block between the encoder and the latent heads: {@code y = proj(norm3(x)) + attention(norm1(x))}, then
 * {@code y + geglu(norm2(y))}. The attention is causal and its heads are averaged and pooled to the latent width. Owns nothing.
 */
final class AttentionProjection {
    private static final float EPS = 1e-5f;
    private static final int MLP_RATIO = 2;

    private record LayerNorm(Tensor weight, Tensor bias) {
        static LayerNorm load(Parameters p, int dim) {
            return new LayerNorm(p.f32("weight", dim), p.f32("bias", dim));
        }

        void apply(Backend backend, Tensor x, Tensor out) {
            backend.layerNorm(x, Optional.of(weight), Optional.of(bias), EPS, out);
        }
    }

    private record Linear(Weight weight, Optional<Tensor> bias) {
        static Linear load(Parameters p, int out, int in) {
            return new Linear(p.matrix("weight", out, in), Optional.of(p.f32("bias", out)));
        }

        void apply(Backend backend, Tensor x, Tensor out) {
            backend.linear(Operand.of(x), weight, bias, out);
        }
    }

    private final Backend backend;
    private final int width;
    private final int out;
    private final int heads;
    private final LayerNorm norm1;
    private final Linear qkv;
    private final Linear pooling;
    private final Linear attentionOut;
    private final LayerNorm norm3;
    private final Linear projection;
    private final LayerNorm norm2;
    private final LayerNorm mlpNorm;
    private final Linear mlpGate;
    private final Linear mlpUp;
    private final Linear mlpDown;

    AttentionProjection(Parameters p, AudioVaeConfig config) {
        backend = p.backend();
        width = config.latentDim();
        out = config.latentChannels();
        heads = config.attentionHeads();
        Parameters attention = p.under("attn.");
        norm1 = LayerNorm.load(p.under("norm1."), width);
        qkv = new Linear(p.matrix("attn.qkv.weight", 3L * width, width), Optional.of(qkvBias(attention, width)));
        pooling = new Linear(HeadPooling.matrix(p, heads, width / heads, out), Optional.empty());
        attentionOut = Linear.load(attention.under("proj."), out, out);
        norm3 = LayerNorm.load(p.under("norm3."), width);
        projection = Linear.load(p.under("proj."), out, width);
        norm2 = LayerNorm.load(p.under("norm2."), out);
        Parameters mlp = p.under("mlp.");
        mlpNorm = LayerNorm.load(mlp.under("norm."), out);
        mlpGate = Linear.load(mlp.under("w0."), MLP_RATIO * out, out);
        mlpUp = Linear.load(mlp.under("w1."), MLP_RATIO * out, out);
        mlpDown = Linear.load(mlp.under("w2."), out, MLP_RATIO * out);
    }

    /** The biases of q, k and v side by side; that of k is stored as zeros. */
    private static Tensor qkvBias(Parameters p, int width) {
        float[] bias = new float[3 * width];
        System.arraycopy(p.host("q_bias", width), 0, bias, 0, width);
        System.arraycopy(p.host("zero_k_bias", width), 0, bias, width, width);
        System.arraycopy(p.host("v_bias", width), 0, bias, 2 * width, width);
        return p.upload(bias, 3L * width);
    }

    /**
     * @param x FP32 [B, T, latentDim]
     * @return FP32 [B, T, latentChannels] in {@code ws}'s current frame
     */
    Tensor apply(Tensor x, Workspace ws, StageTap tap) {
        int batch = x.size(0);
        int rows = batch * x.size(1);
        Tensor y = ws.f32(rows, out);
        try (Workspace.Frame frame = ws.frame()) {
            Tensor flat = x.reshape(rows, width);
            Tensor normed = ws.f32(rows, width);
            norm3.apply(backend, flat, normed);
            projection.apply(backend, normed, y);
            norm1.apply(backend, flat, normed);
            Tensor attended = attend(normed, batch, ws);
            tap.stage("pre_block_attn", attended.reshape(batch, x.size(1), out));
            backend.add(y, attended, y);
            feedForward(y, ws);
        }
        Tensor result = y.reshape(batch, x.size(1), out);
        tap.stage("pre_block", result);
        return result;
    }

    private Tensor attend(Tensor normed, int batch, Workspace ws) {
        int rows = normed.size(0);
        int length = rows / batch;
        Tensor all = ws.f32(rows, 3L * width);
        qkv.apply(backend, normed, all);
        Tensor mixed = ws.f32(rows, width);
        float scale = (float) (1 / Math.sqrt((double) width / heads));
        for (int b = 0; b < batch; b++) {
            Tensor item = all.rows((long) b * length, (b + 1L) * length);
            backend.attention(head(item, 0), head(item, 1), head(item, 2), scale, true,
                    mixed.rows((long) b * length, (b + 1L) * length).splitLast(heads, width / heads));
        }
        Tensor pooled = ws.f32(rows, out);
        pooling.apply(backend, mixed, pooled);
        Tensor attended = ws.f32(rows, out);
        attentionOut.apply(backend, pooled, attended);
        return attended;
    }

    /** q (0), k (1) or v (2) of rows that hold the three side by side, as [T, heads, D]. */
    private Tensor head(Tensor rows, long which) {
        return rows.slice(1, which * width, (which + 1) * width).splitLast(heads, width / heads);
    }

    /** {@code y += w2(gelu(w0(n)) * w1(n))} with n = mlpNorm(norm2(y)). */
    private void feedForward(Tensor y, Workspace ws) {
        int rows = y.size(0);
        Tensor outer = ws.f32(rows, out);
        Tensor inner = ws.f32(rows, out);
        Tensor gate = ws.f32(rows, (long) MLP_RATIO * out);
        Tensor up = ws.f32(rows, (long) MLP_RATIO * out);
        norm2.apply(backend, y, outer);
        mlpNorm.apply(backend, outer, inner);
        mlpGate.apply(backend, inner, gate);
        mlpUp.apply(backend, inner, up);
        backend.geglu(gate, up, gate);
        mlpDown.apply(backend, gate, outer);
        backend.add(y, outer, y);
    }
}

package io.kinema.model.video;

import io.kinema.compute.Backend;
import io.kinema.compute.NormOps.Rotary;
import io.kinema.compute.Operand;
import io.kinema.compute.Precision;
import io.kinema.compute.Tensor;
import io.kinema.compute.Weight;
import io.kinema.compute.Workspace;
import io.kinema.model.StageTap;
import io.kinema.model.load.Parameters;
import io.kinema.weights.DType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The transformer decoder of a clip's tiles: every latent is a token, register tokens and one zero token follow, all tokens of a
 * tile attend to each other, and every latent's token is projected to a block of pixels. Several tiles may be decoded together:
 * their rows lie token by token, [tokens, tiles, dim], so that a tile is to attention what a group of heads is, and each row is
 * computed as it would be alone. Owns nothing.
 */
final class VitDecoder {
    private final Backend backend;
    private final VideoVaeConfig config;
    private final DType operand;
    private final Weight postQuant;
    private final Tensor postQuantBias;
    private final Weight projIn;
    private final Tensor projInBias;
    private final Tensor registers;
    private final List<VitBlock> blocks;
    private final Tensor normWeight;
    private final Tensor normBias;
    private final Weight projOut;
    private final Tensor projOutBias;

    private VitDecoder(Parameters root, VideoVaeConfig config, Precision precision) {
        int latent = config.latentChannels();
        VideoVaeConfig.Vit vit = config.decoder();
        int dim = vit.dim();
        int block = config.outChannels() * config.temporalRatio() * config.spatialRatio() * config.spatialRatio();
        Parameters p = root.under("decoder.").rounded(Parameters.Rounding.of(precision));
        backend = root.backend();
        this.config = config;
        operand = precision.operand();
        postQuant = root.kernelMatrix("post_quant_conv.weight", latent, latent, 1, 1, 1);
        postQuantBias = root.f32("post_quant_conv.bias", latent);
        projIn = root.matrix("decoder.proj_in.weight", dim, latent);
        projInBias = p.f32("proj_in.bias", dim);
        registers = p.f32("register_tokens", 1, vit.registerTokens(), dim).select(0, 0);
        blocks = new ArrayList<>();
        for (int i = 0; i < vit.layers(); i++) {
            blocks.add(new VitBlock(p.under("transformer_blocks." + i + "."), vit, operand));
        }
        normWeight = p.f32("norm_out.weight", dim);
        normBias = p.f32("norm_out.bias", dim);
        projOut = p.matrix("proj_out.weight", block, dim);
        projOutBias = p.f32("proj_out.bias", block);
    }

    static VitDecoder load(Parameters root, VideoVaeConfig config, Precision precision) {
        return new VitDecoder(root, config, precision);
    }

    /** Rotary tables for tiles of this many latents, in {@code ws}'s memory. */
    Rotary rotary(int frames, int height, int width, Workspace ws) {
        return PatchRotary.tables(backend, ws, config.decoder(), frames, height, width, suffix());
    }

    /** Rows that one tile of this many latents has. */
    int rows(int frames, int height, int width) {
        return frames * height * width + suffix();
    }

    /**
     * Decodes tiles of one clip together.
     *
     * @param latents FP32 [latent channels, T, h, w] of each tile, any strides
     * @param rotary  from {@link #rotary} for the same T, h and w
     * @param pixels  FP32 [channels, T * temporal ratio, h * ratio, w * ratio] of each tile; written whole
     */
    void decode(List<Tensor> latents, Rotary rotary, Workspace ws, StageTap tap, List<Tensor> pixels) {
        int tiles = latents.size();
        Tensor first = latents.getFirst();
        int tokens = rows(first.size(1), first.size(2), first.size(3));
        int patches = tokens - suffix();
        try (Workspace.Frame frame = ws.frame()) {
            Tensor x = ws.f32((long) tokens * tiles, config.decoder().dim());
            embed(latents, x, ws, tap);
            tap.stage("rope_cos", rotary.cos());
            tap.stage("rope_sin", rotary.sin());
            for (int i = 0; i < blocks.size(); i++) {
                blocks.get(i).apply(x, tiles, rotary, ws);
                tap.stage("block" + i, x);
            }
            Tensor normed = ws.f32(x.shape().toArray());
            backend.layerNorm(x, Optional.of(normWeight), Optional.of(normBias), config.decoder().normEps(), normed);
            tap.stage("norm_out", normed);
            Tensor values = ws.f32((long) patches * tiles, projOut.outFeatures());
            backend.linear(backend.prepare(normed.rows(0, (long) patches * tiles), operand, ws), projOut, Optional.of(projOutBias), values);
            unpatchify(values, first, pixels);
        }
    }

    /** Register tokens and the zero token. */
    private int suffix() {
        return config.decoder().registerTokens() + 1;
    }

    private void embed(List<Tensor> latents, Tensor x, Workspace ws, StageTap tap) {
        int channels = config.latentChannels();
        Tensor byTile = x.reshape(-1, latents.size(), x.size(1));
        int patches = byTile.size(0) - suffix();
        for (int i = 0; i < latents.size(); i++) {
            Tensor own = byTile.select(1, i);
            Tensor tile = latents.get(i);
            try (Workspace.Frame frame = ws.frame()) {
                Tensor tokens = ws.f32(tile.size(1), tile.size(2), tile.size(3), channels);
                Tensor quantised = ws.f32(tokens.shape().toArray());
                backend.copy(tile.permute(1, 2, 3, 0), tokens);
                backend.linear(Operand.of(tokens.reshape(patches, channels)), postQuant, Optional.of(postQuantBias), quantised.reshape(patches, channels));
                tap.stage("post_quant_conv", quantised.permute(3, 0, 1, 2));
                backend.linear(Operand.of(quantised.reshape(patches, channels)), projIn, Optional.of(projInBias), own.rows(0, patches));
            }
            tap.stage("proj_in", own.rows(0, patches));
            backend.copy(registers, own.rows(patches, own.size(0) - 1L));
        }
        backend.fill(byTile.rows(byTile.size(0) - 1L, byTile.size(0)), 0f);
    }

    /**
     * Lays each token's values [channel, time, row, column] where its latent is.
     *
     * @param values [patches * tiles, values of a block], contiguous
     */
    private void unpatchify(Tensor values, Tensor latents, List<Tensor> pixels) {
        int frames = latents.size(1);
        int height = latents.size(2);
        int width = latents.size(3);
        int t = config.temporalRatio();
        int s = config.spatialRatio();
        Tensor from = values.reshape(frames, height, width, pixels.size(), config.outChannels(), t, s, s);
        for (int i = 0; i < pixels.size(); i++) {
            // Splitting the axes of [C, T, H, W] one by one, each brought to the end: [C, w, s, h, s, frames, t].
            Tensor to = pixels.get(i).splitLast(width, s).permute(0, 1, 3, 4, 2).splitLast(height, s).permute(0, 2, 3, 4, 5, 1).splitLast(frames, t);
            backend.copy(from.select(3, i), to.permute(5, 3, 1, 0, 6, 4, 2));
        }
    }
}

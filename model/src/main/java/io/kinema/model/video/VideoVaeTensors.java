package io.kinema.model.video;

import io.kinema.model.load.Inventory;

/** Every tensor of the video VAE in the diffusers layout, as its config implies. */
public final class VideoVaeTensors {
    private VideoVaeTensors() {
    }

    public static Inventory of(VideoVaeConfig c) {
        Inventory.Builder all = Inventory.builder();
        encoder(all.under("encoder."), c);
        int latent = c.latentChannels();
        all.affine("quant_conv", 2L * latent, 2L * latent, 1, 1, 1);
        all.affine("post_quant_conv", latent, latent, 1, 1, 1);
        decoder(all.under("decoder."), c);
        return all.build();
    }

    private static void encoder(Inventory.Builder p, VideoVaeConfig c) {
        int first = c.encoderChannels().getFirst();
        int last = c.encoderChannels().getLast();
        cube(p, "conv_in", first, c.inChannels());
        int in = first;
        for (int i = 0; i < c.encoderChannels().size(); i++) {
            Inventory.Builder level = p.under("down_blocks." + i + ".");
            int out = c.encoderChannels().get(i);
            for (int j = 0; j < c.layersPerBlock(); j++) {
                residual(level.under("resnets." + j + "."), j == 0 ? in : out, out);
            }
            if (c.spatialFactors().get(i) > 1) {
                cube(level, "downsamplers.0.conv", out, out);
            }
            in = out;
        }
        p.affine("norm_out", last);
        cube(p, "conv_out", 2 * c.latentChannels(), last);
    }

    private static void residual(Inventory.Builder p, int in, int out) {
        p.affine("norm1", in);
        cube(p, "conv1", out, in);
        p.affine("norm2", out);
        cube(p, "conv2", out, out);
        if (in != out) {
            p.affine("conv_shortcut", out, in, 1, 1, 1);
        }
    }

    private static void cube(Inventory.Builder p, String name, int out, int in) {
        p.affine(name, out, in, 3, 3, 3);
    }

    private static void decoder(Inventory.Builder p, VideoVaeConfig c) {
        VideoVaeConfig.Vit vit = c.decoder();
        long dim = vit.dim();
        long inner = dim * vit.ffnMult();
        p.affine("proj_in", dim, c.latentChannels());
        p.add("register_tokens", 1, vit.registerTokens(), dim);
        p.blocks("transformer_blocks.", vit.layers(), block -> {
            block.add("norm1.weight", dim);
            block.affine("attn.to_q", dim, dim).affine("attn.to_k", dim, dim).affine("attn.to_v", dim, dim).affine("attn.to_out.0", dim, dim);
            block.add("scale1", dim);
            block.add("norm2.weight", dim);
            block.affine("ff.net.0.proj", 2 * inner, dim).affine("ff.net.2", dim, inner);
            block.add("scale2", dim);
        });
        p.affine("norm_out", dim);
        p.affine("proj_out", (long) c.outChannels() * c.temporalRatio() * c.spatialRatio() * c.spatialRatio(), dim);
    }
}

package io.kinema.model.video;

import io.kinema.compute.ConvolutionOps.SpatialPadding;
import io.kinema.model.LatentStatistics;
import io.kinema.model.TinyWeights;
import io.kinema.weights.DType;
import io.kinema.weights.MemoryTensors;
import java.util.List;

/** A video VAE of other sizes than any checkpoint: 4 pixels and 2 frames per latent, clips of 5 frames, one latent dropped. */
final class TinyVideoVae {
    static final VideoVaeConfig CONFIG = new VideoVaeConfig(3, 3, 2, List.of(4, 6), 1, List.of(2, 2), List.of(1, 2), 2, 1e-6f,
            SpatialPadding.REFLECT, new VideoVaeConfig.Vit(2, 2, 8, 3, 2, 100, 6, 1e-5f), 5, 1,
            new LatentStatistics(new float[] {0.1f, -0.2f}, new float[] {1.5f, 0.5f}));

    private TinyVideoVae() {
    }

    static MemoryTensors weights(DType dtype) {
        TinyWeights w = new TinyWeights("tiny video VAE", 7, dtype);
        encoder(w);
        decoder(w);
        return w.build();
    }

    private static void encoder(TinyWeights w) {
        conv(w, "encoder.conv_in", 4, 3, 3);
        resnet(w, "encoder.down_blocks.0.resnets.0", 4, 4);
        conv(w, "encoder.down_blocks.0.downsamplers.0.conv", 4, 4, 3);
        resnet(w, "encoder.down_blocks.1.resnets.0", 4, 6);
        conv(w, "encoder.down_blocks.1.resnets.0.conv_shortcut", 6, 4, 1);
        conv(w, "encoder.down_blocks.1.downsamplers.0.conv", 6, 6, 3);
        norm(w, "encoder.norm_out", 6);
        conv(w, "encoder.conv_out", 4, 6, 3);
        conv(w, "quant_conv", 4, 4, 1);
    }

    private static void resnet(TinyWeights w, String name, int in, int out) {
        norm(w, name + ".norm1", in);
        conv(w, name + ".conv1", out, in, 3);
        norm(w, name + ".norm2", out);
        conv(w, name + ".conv2", out, out, 3);
    }

    private static void decoder(TinyWeights w) {
        conv(w, "post_quant_conv", 2, 2, 1);
        linear(w, "decoder.proj_in", 16, 2);
        w.normal("decoder.register_tokens", 0, 1, 1, 3, 16);
        for (int i = 0; i < 2; i++) {
            String block = "decoder.transformer_blocks." + i + ".";
            w.normal(block + "norm1.weight", 1, 0.1, 16).normal(block + "norm2.weight", 1, 0.1, 16);
            w.normal(block + "scale1", 0.5, 0.1, 16).normal(block + "scale2", 0.5, 0.1, 16);
            for (String name : List.of("attn.to_q", "attn.to_k", "attn.to_v", "attn.to_out.0")) {
                linear(w, block + name, 16, 16);
            }
            linear(w, block + "ff.net.0.proj", 64, 16);
            linear(w, block + "ff.net.2", 16, 32);
        }
        norm(w, "decoder.norm_out", 16);
        linear(w, "decoder.proj_out", 3 * 2 * 4 * 4, 16);
    }

    private static void conv(TinyWeights w, String name, long out, long in, long kernel) {
        w.matrix(name + ".weight", out, in, kernel, kernel, kernel).normal(name + ".bias", 0, 0.1, out);
    }

    private static void linear(TinyWeights w, String name, long out, long in) {
        w.matrix(name + ".weight", out, in).normal(name + ".bias", 0, 0.1, out);
    }

    private static void norm(TinyWeights w, String name, long channels) {
        w.normal(name + ".weight", 1, 0.1, channels).normal(name + ".bias", 0, 0.1, channels);
    }
}

package io.kinema.model.audio;

import io.kinema.model.LatentStatistics;
import io.kinema.model.TinyWeights;
import io.kinema.weights.DType;
import io.kinema.weights.MemoryTensors;
import java.util.List;

/** An audio VAE of other sizes than any checkpoint: a hop of 6, heads that do not divide evenly into latents. */
final class TinyAudioVae {
    static final AudioVaeConfig CONFIG = new AudioVaeConfig(2, List.of(2, 3), 18, 6, 2, 8, List.of(3, 2), List.of(5, 4), List.of(3, 5),
            List.of(List.of(1, 2), List.of(1)), 16000, new LatentStatistics(new float[6], new float[] {1, 1, 1, 1, 1, 1}));

    private TinyAudioVae() {
    }

    static MemoryTensors weights(DType dtype) {
        TinyWeights w = new TinyWeights("tiny audio VAE", 11, dtype);
        encoder(w);
        projection(w);
        decoder(w);
        return w.build();
    }

    private static void encoder(TinyWeights w) {
        normed(w, "encoder.block.0", 2, 2, 1, 7);
        int channels = 2;
        int[] strides = {2, 3};
        for (int s = 0; s < 2; s++) {
            String stage = "encoder.block." + (s + 1) + ".block.";
            for (int u = 0; u < 3; u++) {
                String unit = stage + u + ".block.";
                w.normal(unit + "0.alpha", 1, 0.1, 1, channels, 1).normal(unit + "2.alpha", 1, 0.1, 1, channels, 1);
                normed(w, unit + "1", channels, channels, channels, 7);
                normed(w, unit + "3", channels, channels, channels, 1);
            }
            w.normal(stage + "3.alpha", 1, 0.1, 1, channels, 1);
            normed(w, stage + "4", 2 * channels, 2 * channels, channels, 2 * strides[s]);
            channels *= 2;
        }
        w.normal("encoder.block.3.alpha", 1, 0.1, 1, channels, 1);
        normed(w, "encoder.block.4", 18, 18, channels, 3);
    }

    private static void projection(TinyWeights w) {
        for (String norm : List.of("norm1", "norm3")) {
            w.normal("pre_block." + norm + ".weight", 1, 0.1, 18).normal("pre_block." + norm + ".bias", 0, 0.1, 18);
        }
        for (String norm : List.of("norm2", "mlp.norm")) {
            w.normal("pre_block." + norm + ".weight", 1, 0.1, 6).normal("pre_block." + norm + ".bias", 0, 0.1, 6);
        }
        w.matrix("pre_block.attn.qkv.weight", 54, 18);
        w.normal("pre_block.attn.q_bias", 0, 0.1, 18).normal("pre_block.attn.v_bias", 0, 0.1, 18).normal("pre_block.attn.zero_k_bias", 0, 0, 18);
        linear(w, "pre_block.attn.proj", 6, 6);
        linear(w, "pre_block.proj", 6, 18);
        linear(w, "pre_block.mlp.w0", 12, 6);
        linear(w, "pre_block.mlp.w1", 12, 6);
        linear(w, "pre_block.mlp.w2", 6, 12);
        for (String head : List.of("mean_proj", "logs_proj")) {
            w.matrix(head + ".weight", 6, 6, 1).normal(head + ".bias", 0, 0.1, 6);
        }
    }

    private static void decoder(TinyWeights w) {
        w.matrix("dec_in_proj.weight", 18, 6, 1).normal("dec_in_proj.bias", 0, 0.1, 18);
        normed(w, "decoder.conv_pre", 8, 8, 18, 7);
        int channels = 8;
        int[] kernels = {5, 4};
        for (int s = 0; s < 2; s++) {
            normed(w, "decoder.ups." + s + ".0", channels / 2, channels, channels / 2, kernels[s]);
            channels /= 2;
            block(w, "decoder.resblocks." + 2 * s, channels, 3, 2);
            block(w, "decoder.resblocks." + (2 * s + 1), channels, 5, 1);
        }
        activation(w, "decoder.activation_post", channels);
        w.normal("decoder.conv_post.weight_g", 1, 0.1, 1, 1, 1).normal("decoder.conv_post.weight_v", 0, 1, 1, channels, 7);
    }

    private static void block(TinyWeights w, String name, int channels, int kernel, int layers) {
        for (int i = 0; i < layers; i++) {
            normed(w, name + ".convs1." + i, channels, channels, channels, kernel);
            normed(w, name + ".convs2." + i, channels, channels, channels, kernel);
            activation(w, name + ".activations." + 2 * i, channels);
            activation(w, name + ".activations." + (2 * i + 1), channels);
        }
    }

    private static void activation(TinyWeights w, String name, int channels) {
        w.normal(name + ".act.alpha", 0, 0.3, channels).normal(name + ".act.beta", 0, 0.3, channels);
        w.normal(name + ".upsample.filter", 1 / 12.0, 0.02, 1, 1, 12).normal(name + ".downsample.lowpass.filter", 1 / 12.0, 0.02, 1, 1, 12);
    }

    /** A weight-normalised convolution; the norm runs over the first axis of {@code weight_v}. */
    private static void normed(TinyWeights w, String name, int bias, int a, int b, int kernel) {
        w.normal(name + ".weight_g", 1, 0.1, a, 1, 1).normal(name + ".weight_v", 0, 1, a, b, kernel).normal(name + ".bias", 0, 0.1, bias);
    }

    private static void linear(TinyWeights w, String name, int out, int in) {
        w.matrix(name + ".weight", out, in).normal(name + ".bias", 0, 0.1, out);
    }
}

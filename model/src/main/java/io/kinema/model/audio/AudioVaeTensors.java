package io.kinema.model.audio;

import io.kinema.model.load.Inventory;
import io.kinema.model.load.Inventory.Rule;

/**
 * Every tensor of the audio VAE, as its config implies; both layouts use these names. All are FP32: narrower weights decode
 * audibly quieter sound.
 */
public final class AudioVaeTensors {
    private static final int KERNEL = 7;
    private static final int UNITS = 3;
    private static final int TAPS = 12;
    private static final int MLP_RATIO = 2;

    private final Inventory.Builder all;

    private AudioVaeTensors(Inventory.Builder all) {
        this.all = all;
    }

    public static Inventory of(AudioVaeConfig c) {
        Inventory.Builder all = Inventory.builder();
        new AudioVaeTensors(all.under("encoder.")).encoder(c);
        preBlock(all.under("pre_block."), c);
        int latent = c.latentChannels();
        all.affine("mean_proj", Rule.FP32, latent, latent, 1);
        all.affine("logs_proj", Rule.FP32, latent, latent, 1);
        all.affine("dec_in_proj", Rule.FP32, c.latentDim(), latent, 1);
        new AudioVaeTensors(all.under("decoder.")).decoder(c);
        return all.build();
    }

    private void encoder(AudioVaeConfig c) {
        int channels = c.encoderDim();
        int block = 0;
        normed("block." + block++, channels, 1, KERNEL, channels);
        for (int stride : c.encoderRates()) {
            String stage = "block." + block++ + ".block.";
            for (int unit = 0; unit < UNITS; unit++) {
                snake(stage + unit + ".block.0", channels);
                normed(stage + unit + ".block.1", channels, channels, KERNEL, channels);
                snake(stage + unit + ".block.2", channels);
                normed(stage + unit + ".block.3", channels, channels, 1, channels);
            }
            snake(stage + UNITS, channels);
            normed(stage + (UNITS + 1), 2 * channels, channels, 2 * stride, 2 * channels);
            channels *= 2;
        }
        snake("block." + block++, channels);
        normed("block." + block, c.latentDim(), channels, 3, c.latentDim());
    }

    private static void preBlock(Inventory.Builder p, AudioVaeConfig c) {
        long width = c.latentDim();
        long out = c.latentChannels();
        p.affine("norm1", Rule.FP32, width);
        p.add("attn.qkv.weight", Rule.FP32, 3 * width, width);
        p.add("attn.q_bias", Rule.FP32, width).add("attn.zero_k_bias", Rule.FP32, width).add("attn.v_bias", Rule.FP32, width);
        p.affine("attn.proj", Rule.FP32, out, out);
        p.affine("norm3", Rule.FP32, width);
        p.affine("proj", Rule.FP32, out, width);
        p.affine("norm2", Rule.FP32, out);
        p.affine("mlp.norm", Rule.FP32, out);
        p.affine("mlp.w0", Rule.FP32, MLP_RATIO * out, out).affine("mlp.w1", Rule.FP32, MLP_RATIO * out, out);
        p.affine("mlp.w2", Rule.FP32, out, MLP_RATIO * out);
    }

    private void decoder(AudioVaeConfig c) {
        normed("conv_pre", c.decoderDim(), c.latentDim(), KERNEL, c.decoderDim());
        int channels = c.decoderDim();
        int parallel = c.resblockKernels().size();
        for (int i = 0; i < c.decoderRates().size(); i++) {
            int next = c.decoderChannels(i);
            // A transposed convolution: weight norm runs over its input channels, the bias over its output's.
            normed("ups." + i + ".0", channels, next, c.decoderKernels().get(i), next);
            for (int j = 0; j < parallel; j++) {
                residual("resblocks." + (i * parallel + j), next, c.resblockKernels().get(j), c.resblockDilations().get(j).size());
            }
            channels = next;
        }
        aliasFreeSnake("activation_post", channels);
        normWeights("conv_post", 1, channels, KERNEL);
    }

    private void residual(String name, int channels, int kernel, int layers) {
        for (int i = 0; i < layers; i++) {
            aliasFreeSnake(name + ".activations." + 2 * i, channels);
            normed(name + ".convs1." + i, channels, channels, kernel, channels);
            aliasFreeSnake(name + ".activations." + (2 * i + 1), channels);
            normed(name + ".convs2." + i, channels, channels, kernel, channels);
        }
    }

    private void snake(String name, int channels) {
        all.add(name + ".alpha", Rule.FP32, 1, channels, 1);
    }

    private void aliasFreeSnake(String name, int channels) {
        all.add(name + ".act.alpha", Rule.FP32, channels).add(name + ".act.beta", Rule.FP32, channels);
        all.add(name + "." + AliasFreeSnake.UP_FILTER, Rule.FP32, 1, 1, TAPS);
        all.add(name + "." + AliasFreeSnake.DOWN_FILTER, Rule.FP32, 1, 1, TAPS);
    }

    /** A weight-normalised convolution with a bias. */
    private void normed(String name, int a, int b, int kernel, int bias) {
        normWeights(name, a, b, kernel);
        all.add(name + ".bias", Rule.FP32, bias);
    }

    private void normWeights(String name, int a, int b, int kernel) {
        all.add(name + ".weight_g", Rule.FP32, a, 1, 1).add(name + ".weight_v", Rule.FP32, a, b, kernel);
    }
}

package io.kinema.model.audio;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.model.LatentStatistics;
import io.kinema.model.load.ConfigFields;
import io.kinema.weights.BadWeightsException;
import java.util.List;

/**
 * Every size of the audio VAE, as its {@code config.json} states them.
 *
 * @param encoderDim        channels of the encoder's first convolution; they double at every stage
 * @param encoderRates      strides of the encoder's stages; their product is the hop
 * @param latentDim         width between the convolutions and the latent projections
 * @param latentChannels    channels of a latent
 * @param attentionHeads    heads of the attention projection
 * @param decoderDim        channels of the decoder's first convolution; they halve at every stage
 * @param decoderRates      upsampling of the decoder's stages; their product is the hop too
 * @param decoderKernels    kernel of each stage's transposed convolution
 * @param resblockKernels   kernels of the parallel residual blocks of a stage
 * @param resblockDilations dilations of each of them
 * @param samplingRate      samples per second
 * @param statistics        mean and deviation that normalise latents
 */
public record AudioVaeConfig(int encoderDim, List<Integer> encoderRates, int latentDim, int latentChannels, int attentionHeads,
                             int decoderDim, List<Integer> decoderRates, List<Integer> decoderKernels,
                             List<Integer> resblockKernels, List<List<Integer>> resblockDilations, int samplingRate,
                             LatentStatistics statistics) {
    private static final int MANY = 1 << 16;
    private static final int LONGEST_STRIDE = 1 << 10;

    /** Reads and checks a config. @throws BadWeightsException naming the field, what it is and what was expected */
    public static AudioVaeConfig read(JsonNode json) {
        ConfigFields f = new ConfigFields("audio VAE", json);
        f.only("_class_name", "AutoencoderKLMiniMaxH3Audio");
        int channels = f.integer("latent_channels", 1, MANY);
        float[] mean = f.floats("latents_mean", channels);
        float[] std = f.floats("latents_std", channels);
        for (float s : std) {
            if (!(s > 0)) {
                throw f.wrong("latents_std", s, "positive numbers");
            }
        }
        AudioVaeConfig config = new AudioVaeConfig(
                f.integer("encoder_dim", 1, MANY), f.integers("encoder_rates", 1, LONGEST_STRIDE), f.integer("latent_dim", 1, MANY), channels,
                f.integer("num_attention_heads", 1, MANY), f.integer("decoder_dim", 1, MANY),
                f.integers("decoder_rates", 1, LONGEST_STRIDE), f.integers("decoder_kernel_sizes", 1, LONGEST_STRIDE),
                f.integers("resblock_kernel_sizes", 1, LONGEST_STRIDE), f.integerLists("resblock_dilation_sizes", 1, LONGEST_STRIDE),
                f.integer("sampling_rate", 1, 1 << 20), new LatentStatistics(mean, std));
        config.check(f);
        return config;
    }

    private void check(ConfigFields f) {
        if (decoderHop() != hop()) {
            throw f.wrong("decoder_rates", decoderRates, "rates whose product is that of encoder_rates, " + hop());
        }
        if (latentDim % attentionHeads != 0) {
            throw f.wrong("latent_dim", latentDim, "a multiple of num_attention_heads " + attentionHeads);
        }
        if (latentDim % latentChannels != 0) {
            throw f.wrong("latent_dim", latentDim, "a multiple of latent_channels " + latentChannels);
        }
        if ((long) encoderDim << encoderRates.size() > MANY) {
            throw f.wrong("encoder_dim", encoderDim, "at most " + MANY + " channels after doubling for each of encoder_rates");
        }
        if (decoderDim >> decoderRates.size() == 0) {
            throw f.wrong("decoder_dim", decoderDim, "at least 2 to the number of decoder_rates, " + decoderRates.size());
        }
        if (decoderKernels.size() != decoderRates.size()) {
            throw f.wrong("decoder_kernel_sizes", decoderKernels, decoderRates.size() + " kernels, one per entry of decoder_rates");
        }
        for (int i = 0; i < decoderKernels.size(); i++) {
            int surplus = decoderKernels.get(i) - decoderRates.get(i);
            if (surplus < 0 || surplus % 2 != 0) {
                throw f.wrong("decoder_kernel_sizes", decoderKernels, "each its rate plus an even number, rates " + decoderRates);
            }
        }
        if (resblockDilations.size() != resblockKernels.size()) {
            throw f.wrong("resblock_dilation_sizes", resblockDilations, resblockKernels.size() + " lists, one per entry of resblock_kernel_sizes");
        }
        if (resblockKernels.stream().anyMatch(k -> k % 2 == 0)) {
            throw f.wrong("resblock_kernel_sizes", resblockKernels, "odd kernels");
        }
    }

    /** Samples per latent. */
    public int hop() {
        return encoderRates.stream().reduce(1, Math::multiplyExact);
    }

    private int decoderHop() {
        return decoderRates.stream().reduce(1, Math::multiplyExact);
    }

    /** Channels after decoder stage {@code i}. */
    public int decoderChannels(int i) {
        return decoderDim >> (i + 1);
    }
}

package io.kinema.model.video;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.compute.ConvolutionOps.SpatialPadding;
import io.kinema.model.LatentStatistics;
import io.kinema.model.load.ConfigFields;
import io.kinema.weights.BadWeightsException;
import java.util.List;

/**
 * Every size of the video VAE, as its {@code config.json} states them.
 *
 * @param inChannels      channels of the frames the encoder reads
 * @param outChannels     channels of the frames the decoder makes
 * @param latentChannels  channels of a latent; the encoder makes twice as many (mean and log variance)
 * @param encoderChannels channels of each encoder level, outermost first; one entry per level
 * @param layersPerBlock  residual blocks per encoder level
 * @param spatialFactors  downsampling of height and width after each level, 1 or 2
 * @param temporalFactors downsampling of time after each level
 * @param normGroups      groups of every group norm
 * @param normEps         epsilon of every group norm
 * @param padding         spatial padding of the encoder's convolutions
 * @param decoder         sizes of the transformer decoder
 * @param clipLength      frames that are encoded at a time
 * @param tokenDrop       latent frames dropped from the end of an encoding
 * @param statistics      mean and deviation that normalise latents
 */
public record VideoVaeConfig(int inChannels, int outChannels, int latentChannels, List<Integer> encoderChannels, int layersPerBlock,
                             List<Integer> spatialFactors, List<Integer> temporalFactors, int normGroups, float normEps,
                             SpatialPadding padding, Vit decoder, int clipLength, int tokenDrop, LatentStatistics statistics) {
    private static final int MANY = 1 << 16;

    /**
     * The transformer decoder.
     *
     * @param layers         transformer blocks
     * @param heads          attention heads
     * @param headDim        channels of a head
     * @param registerTokens learned tokens appended to the patches
     * @param ffnMult        width of the feed-forward layer in multiples of the model's
     * @param ropeTheta      base of the rotary frequencies
     * @param rotaryDim      channels of a head that are rotated, a multiple of 6 (two per axis and frequency)
     * @param normEps        epsilon of every norm
     */
    public record Vit(int layers, int heads, int headDim, int registerTokens, int ffnMult, double ropeTheta, int rotaryDim, float normEps) {
        /** Width of the model. */
        public int dim() {
            return heads * headDim;
        }
    }

    /** Reads and checks a config. @throws BadWeightsException naming the field, what it is and what was expected */
    public static VideoVaeConfig read(JsonNode json) {
        ConfigFields f = new ConfigFields("video VAE", json);
        f.only("_class_name", "AutoencoderKLMiniMaxH3");
        int latentChannels = f.integer("latent_channels", 1, MANY);
        List<Integer> channels = f.integers("block_out_channels", 1, MANY);
        int clipLength = f.integer("clip_length", 1, MANY);
        VideoVaeConfig config = new VideoVaeConfig(
                f.integer("in_channels", 1, MANY), f.integer("out_channels", 1, MANY), latentChannels, channels,
                f.integer("layers_per_block", 1, MANY),
                f.integers("spatial_downsample_factors", 1, 2), f.integers("temporal_downsample_factors", 1, 64),
                f.integer("norm_num_groups", 1, MANY), (float) f.number("norm_eps", 0, 1),
                switch (f.word("spatial_padding_mode", "reflect", "constant")) {
                    case "reflect" -> SpatialPadding.REFLECT;
                    default -> SpatialPadding.ZEROS;
                },
                vit(f), clipLength, f.integer("token_drop", 0, MANY), statistics(f, latentChannels));
        config.check(f);
        return config;
    }

    private static Vit vit(ConfigFields f) {
        int headDim = f.integer("decoder_attention_head_dim", 1, MANY);
        double ratio = f.number("decoder_rope_dim_ratio", 0, 1);
        int rotaryDim = (int) (headDim * ratio);
        if (rotaryDim == 0 || rotaryDim % 6 != 0) {
            throw f.wrong("decoder_rope_dim_ratio", ratio + " of heads of " + headDim + " (" + rotaryDim + " channels)", "a positive multiple of 6 channels");
        }
        return new Vit(f.integer("decoder_num_layers", 1, MANY), f.integer("decoder_num_attention_heads", 1, 1 << 12), headDim,
                f.integer("decoder_num_register_tokens", 0, MANY), f.integer("decoder_ffn_mult", 1, 1 << 8),
                f.number("decoder_rope_theta", 1, 1e12), rotaryDim, (float) f.number("decoder_norm_eps", 0, 1));
    }

    private static LatentStatistics statistics(ConfigFields f, int channels) {
        float[] mean = f.floats("latents_mean", channels);
        float[] std = f.floats("latents_std", channels);
        for (float s : std) {
            if (!(s > 0)) {
                throw f.wrong("latents_std", s, "positive numbers");
            }
        }
        return new LatentStatistics(mean, std);
    }

    private void check(ConfigFields f) {
        int levels = encoderChannels.size();
        if (spatialFactors.size() != levels) {
            throw f.wrong("spatial_downsample_factors", spatialFactors, levels + " factors, one per entry of block_out_channels");
        }
        if (temporalFactors.size() != levels) {
            throw f.wrong("temporal_downsample_factors", temporalFactors, levels + " factors, one per entry of block_out_channels");
        }
        for (int i = 0; i < levels; i++) {
            if (encoderChannels.get(i) % normGroups != 0) {
                throw f.wrong("block_out_channels", encoderChannels, "multiples of norm_num_groups " + normGroups);
            }
            if (temporalFactors.get(i) > 1 && spatialFactors.get(i) == 1) {
                throw f.wrong("temporal_downsample_factors", temporalFactors, "1 wherever spatial_downsample_factors is 1");
            }
        }
        if (tokenDrop >= timing().tokensPerChunk()) {
            throw f.wrong("token_drop", tokenDrop, "less than the " + timing().tokensPerChunk() + " latent frames of a clip");
        }
    }

    /** Pixels per latent along height and width. */
    public int spatialRatio() {
        return spatialFactors.stream().reduce(1, Math::multiplyExact);
    }

    /** Frames per latent frame. */
    public int temporalRatio() {
        return temporalFactors.stream().reduce(1, Math::multiplyExact);
    }

    /** How frames and latent frames correspond. */
    public ClipTiming timing() {
        return new ClipTiming(clipLength, temporalRatio(), tokenDrop);
    }
}

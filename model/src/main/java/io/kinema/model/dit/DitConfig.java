package io.kinema.model.dit;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.model.load.ConfigFields;

/**
 * Sizes and constants of the diffusion transformer, from the diffusers layout's {@code transformer/config.json}.
 * Sizes that shape every block must be there; the rest have the reference's defaults.
 *
 * @param heads           attention heads
 * @param headDim         channels of a head; heads * headDim need not equal {@code hidden}
 * @param hidden          channels of the packed sequence (the residual stream)
 * @param layers          blocks
 * @param refinerLayers   token refiner blocks, may be 0
 * @param ffn             inner width of the feed-forward
 * @param videoPatchDim   channels of a video row: latent channels times the patch's volume
 * @param audioChannels   channels of an audio row
 * @param textDim         channels of the text conditioning
 * @param freqDim         width of the sinusoidal timestep embedding
 * @param timeHidden      inner width of the timestep MLP
 * @param timeDim         output width of the timestep MLP, input of every AdaLN projection
 * @param ropeFrequencies rotary frequencies per axis; 6 * ropeFrequencies channels of a head are rotated
 * @param ropeTheta       base of the rotary frequencies
 * @param normEps         epsilon of the blocks' norms
 * @param qkNormEps       epsilon of the query and key norms
 * @param finalNormEps    epsilon of the refiner's and the transformer's last norm
 */
public record DitConfig(int heads, int headDim, int hidden, int layers, int refinerLayers, int ffn, int videoPatchDim, int audioChannels,
                        int textDim, int freqDim, int timeHidden, int timeDim, int ropeFrequencies, double ropeTheta,
                        float normEps, float qkNormEps, float finalNormEps) {
    /** Modalities with their own AdaLN rows: 0 video, 1 text, 2 audio. */
    public static final int MODALITIES = 3;
    /** Position axes: time, height, width. */
    public static final int AXES = 3;

    private static final String CLASS = "MiniMaxH3Transformer3DModel";

    /** @throws io.kinema.weights.BadWeightsException when a field is missing, of the wrong kind or out of range */
    public static DitConfig read(JsonNode json) {
        ConfigFields f = new ConfigFields("transformer config", json);
        f.only("_class_name", CLASS);
        DitConfig c = new DitConfig(f.size("num_attention_heads"), f.size("attention_head_dim"), f.size("hidden_size"), f.size("num_layers"),
                f.count("num_refiner_layers", 2), f.size("ffn_dim"), videoPatchDim(f), f.size("audio_in_channels", 32),
                f.size("text_dim", 5120), f.size("freq_dim", 256), f.size("time_embed_hidden_dim", 5376), f.size("time_embed_dim", 2688),
                f.size("rope_freq_dim", 16), f.positive("rope_theta", 10000),
                (float) f.positive("norm_eps", 1e-5), (float) f.positive("qk_norm_eps", 1e-5), (float) f.positive("final_norm_eps", 1e-5));
        if (c.rotaryDim() > c.headDim) {
            throw f.wrong("rope_freq_dim", c.ropeFrequencies, "at most attention_head_dim / 6 = " + c.headDim / (2 * AXES));
        }
        if (c.freqDim < 2) {
            throw f.wrong("freq_dim", c.freqDim, "at least 2");
        }
        return c;
    }

    /** heads * headDim. */
    public int inner() {
        return heads * headDim;
    }

    /** Channels of a head that are rotated. */
    public int rotaryDim() {
        return 2 * AXES * ropeFrequencies;
    }

    private static int videoPatchDim(ConfigFields f) {
        int[] patch = f.has("patch_size") ? f.wholes("patch_size", 1) : new int[] {1, 2, 2};
        if (patch.length != AXES) {
            throw f.wrong("patch_size", f.node().get("patch_size"), "three sizes (time, height, width)");
        }
        long dim = f.size("in_channels", 24);
        for (int p : patch) {
            dim = Math.min(dim * p, Integer.MAX_VALUE);
        }
        if (dim > 1 << 24) {
            throw f.wrong("patch_size", f.node().get("patch_size"), "in_channels times the patch's volume to be at most " + (1 << 24));
        }
        return (int) dim;
    }
}

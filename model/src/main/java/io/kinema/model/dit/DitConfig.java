package io.kinema.model.dit;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.model.load.ConfigFields;
import java.util.List;
import java.util.Optional;

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
 * @param curve           what stands in for the timestep MLP in pruned weights; empty for whole ones
 */
public record DitConfig(int heads, int headDim, int hidden, int layers, int refinerLayers, int ffn, int videoPatchDim, int audioChannels,
                        int textDim, int freqDim, int timeHidden, int timeDim, int ropeFrequencies, double ropeTheta,
                        float normEps, float qkNormEps, float finalNormEps, Optional<Curve> curve) {
    /** Modalities with their own AdaLN rows: 0 video, 1 text, 2 audio. */
    public static final int MODALITIES = 3;
    /** Position axes: time, height, width. */
    public static final int AXES = 3;

    /** The released H3 transformers' sizes. */
    public static final DitConfig RELEASED = new DitConfig(56, 128, 5376, 50, 2, 14336, 96, 32, 5120, 256, 5376, 2688, 16, 10000, 1e-5f, 1e-5f, 1e-5f, Optional.empty());

    /** Fields of the config that say that the weights are pruned: {@link Curve}. */
    public static final String CURVE_POINTS = "adaln_curve_points";
    public static final String CURVE_RANK = "adaln_curve_rank";

    private static final String CLASS = "MiniMaxH3Transformer3DModel";
    /** No released size comes near these; they keep products of two sizes inside an int or a long. */
    private static final int WIDEST = 1 << 20;
    private static final int DEEPEST = 4096;

    /** @throws io.kinema.weights.BadWeightsException when a field is missing, of the wrong kind or out of range */
    public static DitConfig read(JsonNode json) {
        ConfigFields f = new ConfigFields("transformer", json);
        f.only("_class_name", CLASS);
        int headDim = f.integer("attention_head_dim", 1, WIDEST);
        return new DitConfig(f.integer("num_attention_heads", 1, DEEPEST), headDim,
                f.integer("hidden_size", 1, WIDEST), f.integer("num_layers", 1, DEEPEST), f.integerOr(2, "num_refiner_layers", 0, DEEPEST),
                f.integer("ffn_dim", 1, WIDEST), videoPatchDim(f), f.integerOr(32, "audio_in_channels", 1, WIDEST),
                f.integerOr(5120, "text_dim", 1, WIDEST), f.integerOr(256, "freq_dim", 2, WIDEST),
                f.integerOr(5376, "time_embed_hidden_dim", 1, WIDEST), f.integerOr(2688, "time_embed_dim", 1, WIDEST),
                ropeFrequencies(f, headDim), f.numberOr(10000, "rope_theta", Float.MIN_NORMAL, Float.MAX_VALUE),
                epsilon(f, "norm_eps"), epsilon(f, "qk_norm_eps"), epsilon(f, "final_norm_eps"), curve(f));
    }

    /** The same transformer with another number of layers. */
    public DitConfig withLayers(int count) {
        return new DitConfig(heads, headDim, hidden, count, refinerLayers, ffn, videoPatchDim, audioChannels, textDim, freqDim, timeHidden, timeDim,
                ropeFrequencies, ropeTheta, normEps, qkNormEps, finalNormEps, curve);
    }

    /**
     * The AdaLN projections' input as a table over time, linear between its points: {@code points} equidistant model times from 0
     * to 1, each with {@code rank} values.
     */
    public record Curve(int points, int rank) {
    }

    /** The same sizes with another curve, or none. */
    public DitConfig with(Optional<Curve> other) {
        return new DitConfig(heads, headDim, hidden, layers, refinerLayers, ffn, videoPatchDim, audioChannels, textDim, freqDim, timeHidden, timeDim,
                ropeFrequencies, ropeTheta, normEps, qkNormEps, finalNormEps, other);
    }

    /** Input width of the AdaLN projections. */
    public int adaInput() {
        return curve.map(Curve::rank).orElse(timeDim);
    }

    /** heads * headDim. */
    public int inner() {
        return heads * headDim;
    }

    /** Channels of a head that are rotated. */
    public int rotaryDim() {
        return 2 * AXES * ropeFrequencies;
    }

    private static Optional<Curve> curve(ConfigFields f) {
        return f.has(CURVE_POINTS) ? Optional.of(new Curve(f.integer(CURVE_POINTS, 2, WIDEST), f.integer(CURVE_RANK, 1, WIDEST))) : Optional.empty();
    }

    private static float epsilon(ConfigFields f, String name) {
        return (float) f.numberOr(1e-5, name, 0, 1);
    }

    /** All three axes' angle pairs must fit in a head. */
    private static int ropeFrequencies(ConfigFields f, int headDim) {
        int frequencies = f.integerOr(16, "rope_freq_dim", 1, WIDEST);
        if (frequencies > headDim / (2 * AXES)) {
            throw f.wrong("rope_freq_dim", frequencies, "at most attention_head_dim / 6 = " + headDim / (2 * AXES));
        }
        return frequencies;
    }

    private static int videoPatchDim(ConfigFields f) {
        List<Integer> patch = f.has("patch_size") ? f.integers("patch_size", 1, 1024) : List.of(1, 2, 2);
        if (patch.size() != AXES) {
            throw f.wrong("patch_size", patch, "three sizes: time, height, width");
        }
        long channels = f.integerOr(24, "in_channels", 1, WIDEST);
        long dim = channels * patch.get(0) * patch.get(1) * patch.get(2);
        if (dim > WIDEST) {
            throw f.wrong("patch_size", patch, "in_channels times the patch's volume to be at most " + WIDEST);
        }
        return (int) dim;
    }
}

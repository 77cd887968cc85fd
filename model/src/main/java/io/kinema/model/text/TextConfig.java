package io.kinema.model.text;

import io.kinema.model.load.ConfigFields;
import java.util.List;

/**
 * Sizes and constants of the text tower.
 *
 * @param vocabulary   rows of the embedding table
 * @param hidden       channels
 * @param layers       decoder layers in the checkpoint
 * @param heads        query heads
 * @param kvHeads      key and value heads, divides {@code heads}
 * @param headDim      channels of a head
 * @param ffn          inner width of the feed-forward
 * @param normEps      epsilon of all norms
 * @param ropeTheta    base of the rotary frequencies
 * @param ropeSections frequencies that turn by time, height and width; they sum to headDim / 2
 */
public record TextConfig(int vocabulary, int hidden, int layers, int heads, int kvHeads, int headDim, int ffn, float normEps,
                         double ropeTheta, List<Integer> ropeSections) {
    private static final int LARGEST = 1 << 20;
    private static final int MOST = 4096;

    static TextConfig read(ConfigFields f) {
        f.only("hidden_act", "silu");
        f.only("attention_bias", "false");
        int hidden = f.integer("hidden_size", 1, LARGEST);
        int heads = f.integer("num_attention_heads", 1, MOST);
        int headDim = f.integerOr(hidden / heads, "head_dim", 2, LARGEST);
        if (headDim % 2 != 0) {
            throw f.wrong("head_dim", headDim, "an even number");
        }
        return new TextConfig(f.integer("vocab_size", 1, 1 << 24), hidden, f.integer("num_hidden_layers", 1, MOST), heads,
                kvHeads(f, heads), headDim, f.integer("intermediate_size", 1, LARGEST), (float) f.numberOr(1e-6, "rms_norm_eps", 0, 1),
                ropeTheta(f), ropeSections(f, headDim / 2));
    }

    /** True when heads and channels can be shared out evenly; ranks may have a key head in common. */
    public boolean spreadsOver(int ranks) {
        return heads % ranks == 0 && ffn % ranks == 0 && (kvHeads % ranks == 0 || ranks % kvHeads == 0);
    }

    /** Of so many ranks those that can share it: all, or the first alone. */
    public int ranksOf(int ranks) {
        return spreadsOver(ranks) ? ranks : 1;
    }

    private static int kvHeads(ConfigFields f, int heads) {
        int kvHeads = f.integerOr(heads, "num_key_value_heads", 1, MOST);
        if (heads % kvHeads != 0) {
            throw f.wrong("num_key_value_heads", kvHeads, "a divisor of num_attention_heads = " + heads);
        }
        return kvHeads;
    }

    /** Newer configs keep the base inside {@code rope_parameters}. */
    private static double ropeTheta(ConfigFields f) {
        ConfigFields holder = f.has("rope_parameters") ? f.object("rope_parameters") : f;
        return holder.numberOr(500000, "rope_theta", Float.MIN_NORMAL, Float.MAX_VALUE);
    }

    private static List<Integer> ropeSections(ConfigFields f, int frequencies) {
        ConfigFields rope = f.object(f.has("rope_parameters") ? "rope_parameters" : "rope_scaling");
        rope.only("rope_type", "default");
        rope.only("mrope_interleaved", "true");
        List<Integer> sections = rope.integers("mrope_section", 0, LARGEST);
        if (sections.size() != 3 || sections.stream().mapToInt(Integer::intValue).sum() != frequencies) {
            throw rope.wrong("mrope_section", sections, "three numbers (time, height, width) that sum to head_dim / 2 = " + frequencies);
        }
        return sections;
    }

    /** The axis whose position turns frequency {@code i}: height and width take every third up to their share, time the rest. */
    int axisOf(int i) {
        int axis = i % 3;
        return axis != 0 && i < 3 * ropeSections.get(axis) ? axis : 0;
    }
}

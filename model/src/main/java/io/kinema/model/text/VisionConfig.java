package io.kinema.model.text;

import io.kinema.model.load.ConfigFields;
import java.util.List;

/**
 * Sizes and constants of the vision tower.
 *
 * @param depth      blocks
 * @param hidden     channels
 * @param heads      attention heads, divides {@code hidden}
 * @param ffn        inner width of the feed-forward
 * @param channels   colour channels of a pixel
 * @param temporal   frames in a patch
 * @param patch      rows and columns of a patch
 * @param merge      patches along each side that become one token
 * @param gridSide   rows and columns of the learned position grid
 * @param outHidden  channels of a token, those of the text tower
 * @param deepstack  blocks whose outputs are added after the first text layers, in order
 * @param ropeTheta  base of the rotary frequencies
 */
public record VisionConfig(int depth, int hidden, int heads, int ffn, int channels, int temporal, int patch, int merge, int gridSide,
                           int outHidden, List<Integer> deepstack, double ropeTheta) {
    private static final int LARGEST = 1 << 20;
    private static final int MOST = 4096;

    static VisionConfig read(ConfigFields f, int textHidden) {
        f.only("hidden_act", "gelu_pytorch_tanh");
        int depth = f.integer("depth", 1, MOST);
        int hidden = f.integer("hidden_size", 1, LARGEST);
        int out = f.integer("out_hidden_size", 1, LARGEST);
        if (out != textHidden) {
            throw f.wrong("out_hidden_size", out, "the text tower's hidden_size = " + textHidden);
        }
        return new VisionConfig(depth, hidden, heads(f, hidden), f.integer("intermediate_size", 1, LARGEST), f.integerOr(3, "in_channels", 1, 16),
                f.integerOr(2, "temporal_patch_size", 1, 16), f.integerOr(16, "patch_size", 1, 256), f.integerOr(2, "spatial_merge_size", 1, 16),
                gridSide(f), out, deepstack(f, depth), ropeTheta(f));
    }

    private static int heads(ConfigFields f, int hidden) {
        int heads = f.integer("num_heads", 1, MOST);
        if (hidden % heads != 0 || hidden / heads % 4 != 0) {
            throw f.wrong("num_heads", heads, "hidden_size = " + hidden + " divided by it to be a multiple of 4");
        }
        return heads;
    }

    private static int gridSide(ConfigFields f) {
        int positions = f.integer("num_position_embeddings", 1, 1 << 24);
        int side = (int) Math.round(Math.sqrt(positions));
        if (side * side != positions) {
            throw f.wrong("num_position_embeddings", positions, "a square number");
        }
        return side;
    }

    private static List<Integer> deepstack(ConfigFields f, int depth) {
        List<Integer> blocks = f.integersOr(List.of(8, 16, 24), "deepstack_visual_indexes", 0, depth - 1);
        for (int i = 1; i < blocks.size(); i++) {
            if (blocks.get(i) <= blocks.get(i - 1)) {
                throw f.wrong("deepstack_visual_indexes", blocks, "blocks in ascending order");
            }
        }
        return blocks;
    }

    private static double ropeTheta(ConfigFields f) {
        ConfigFields holder = f.has("rope_parameters") ? f.object("rope_parameters") : f;
        return holder.numberOr(10000, "rope_theta", Float.MIN_NORMAL, Float.MAX_VALUE);
    }

    /** Values in a row of pixels: one patch over its frames. */
    public int pixelsPerRow() {
        return channels * temporal * patch * patch;
    }

    /** Patches that become one token. */
    public int patchesPerToken() {
        return merge * merge;
    }

    int headDim() {
        return hidden / heads;
    }
}

package io.kinema.model.text;

import io.kinema.model.load.Inventory;
import io.kinema.model.load.Inventory.Rule;

/** Every tensor of the text encoder, as its config implies; both layouts use these names. */
public final class TextEncoderTensors {
    private TextEncoderTensors() {
    }

    /**
     * @param layersRead text layers that are run; the later ones, the last norm and the language head may be left out of a
     *                   checkpoint, because H3 never reads them
     */
    public static Inventory of(TextEncoderConfig config, int layersRead) {
        Inventory.Builder all = Inventory.builder();
        TextConfig text = config.text();
        all.add("lm_head.weight", Rule.UNREAD, text.vocabulary(), text.hidden());
        Inventory.Builder language = all.under("model.language_model.");
        language.add("embed_tokens.weight", text.vocabulary(), text.hidden());
        for (int i = 0; i < text.layers(); i++) {
            layer(language.under("layers." + i + "."), text, i < layersRead ? Rule.FLOAT : Rule.UNREAD);
        }
        language.add("norm.weight", Rule.UNREAD, text.hidden());
        vision(all.under("model.visual."), config.vision());
        return all.build();
    }

    private static void layer(Inventory.Builder p, TextConfig c, Rule rule) {
        long q = (long) c.heads() * c.headDim();
        long kv = (long) c.kvHeads() * c.headDim();
        p.add("input_layernorm.weight", rule, c.hidden());
        p.add("self_attn.q_proj.weight", rule, q, c.hidden()).add("self_attn.k_proj.weight", rule, kv, c.hidden());
        p.add("self_attn.v_proj.weight", rule, kv, c.hidden()).add("self_attn.o_proj.weight", rule, c.hidden(), q);
        p.add("self_attn.q_norm.weight", rule, c.headDim()).add("self_attn.k_norm.weight", rule, c.headDim());
        p.add("post_attention_layernorm.weight", rule, c.hidden());
        p.add("mlp.gate_proj.weight", rule, c.ffn(), c.hidden()).add("mlp.up_proj.weight", rule, c.ffn(), c.hidden());
        p.add("mlp.down_proj.weight", rule, c.hidden(), c.ffn());
    }

    private static void vision(Inventory.Builder p, VisionConfig c) {
        p.affine("patch_embed.proj", c.hidden(), c.channels(), c.temporal(), c.patch(), c.patch());
        p.add("pos_embed.weight", (long) c.gridSide() * c.gridSide(), c.hidden());
        p.blocks("blocks.", c.depth(), block -> {
            block.affine("norm1", c.hidden()).affine("norm2", c.hidden());
            block.affine("attn.qkv", 3L * c.hidden(), c.hidden()).affine("attn.proj", c.hidden(), c.hidden());
            block.affine("mlp.linear_fc1", c.ffn(), c.hidden()).affine("mlp.linear_fc2", c.hidden(), c.ffn());
        });
        merger(p.under("merger."), c, c.hidden());
        p.blocks("deepstack_merger_list.", c.deepstack().size(), block -> merger(block, c, (long) c.hidden() * c.patchesPerToken()));
    }

    private static void merger(Inventory.Builder p, VisionConfig c, long normWidth) {
        long merged = (long) c.hidden() * c.patchesPerToken();
        p.affine("norm", normWidth).affine("linear_fc1", merged, merged).affine("linear_fc2", c.outHidden(), merged);
    }
}

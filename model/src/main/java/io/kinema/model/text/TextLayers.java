package io.kinema.model.text;

import io.kinema.compute.collective.Communicator;
import io.kinema.model.layer.Attention;
import io.kinema.model.layer.FeedForward;
import io.kinema.model.layer.Linear;
import io.kinema.model.layer.PreNormBlock;
import io.kinema.model.load.Parameters;
import io.kinema.model.load.Share;

/** Reads the weights of the text tower's decoder layers. */
final class TextLayers {
    private TextLayers() {
    }

    /** @param ranks read a part each */
    static PreNormBlock.Weights read(Parameters p, TextConfig c, Communicator ranks) {
        return new PreNormBlock.Weights(p.f32("input_layernorm.weight", c.hidden()), attention(p.under("self_attn."), c, ranks),
                p.f32("post_attention_layernorm.weight", c.hidden()), feedForward(p.under("mlp."), c, ranks));
    }

    private static Attention.Weights attention(Parameters p, TextConfig c, Communicator ranks) {
        long q = (long) c.heads() * c.headDim();
        long kv = (long) c.kvHeads() * c.headDim();
        Share keys = Share.heads(ranks, c.kvHeads());
        return new Attention.Weights(Linear.of(p.matrix("q_proj.weight", q, c.hidden(), Share.outputs(ranks))),
                Linear.of(p.matrix("k_proj.weight", kv, c.hidden(), keys)), Linear.of(p.matrix("v_proj.weight", kv, c.hidden(), keys)),
                Linear.of(p.matrix("o_proj.weight", c.hidden(), q, Share.inputs(ranks))),
                p.f32("q_norm.weight", c.headDim()), p.f32("k_norm.weight", c.headDim()));
    }

    private static FeedForward.Weights feedForward(Parameters p, TextConfig c, Communicator ranks) {
        Share channels = Share.outputs(ranks);
        return new FeedForward.Weights(Linear.of(p.matrix("gate_proj.weight", c.ffn(), c.hidden(), channels)),
                Linear.of(p.matrix("up_proj.weight", c.ffn(), c.hidden(), channels)),
                Linear.of(p.matrix("down_proj.weight", c.hidden(), c.ffn(), Share.inputs(ranks))));
    }
}

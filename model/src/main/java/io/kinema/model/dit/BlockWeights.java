package io.kinema.model.dit;

import io.kinema.compute.Tensor;
import io.kinema.compute.Weight;
import io.kinema.model.adapter.AdapterTarget;
import io.kinema.model.layer.Attention;
import io.kinema.model.layer.FeedForward;
import io.kinema.model.layer.Linear;
import io.kinema.model.layer.PreNormBlock;
import io.kinema.model.load.Parameters;
import java.util.List;

/** Reads the weights of one block or refiner block, which differ only in what they are called and in their AdaLN. */
final class BlockWeights {
    private BlockWeights() {
    }

    /** @param p a reader whose prefix ends with the block's name and a dot */
    static PreNormBlock.Weights read(Parameters p, DitConfig c) {
        return read(p, c, norm1(p, c));
    }

    /** @param norm1 what {@link #norm1} gave, which may live elsewhere */
    static PreNormBlock.Weights read(Parameters p, DitConfig c, Tensor norm1) {
        return new PreNormBlock.Weights(norm1, attention(p.under("attn."), c),
                p.f32("norm2.weight", c.hidden()), feedForward(p.under("ff.net."), c));
    }

    static Tensor norm1(Parameters p, DitConfig c) {
        return p.f32("norm1.weight", c.hidden());
    }

    private static Attention.Weights attention(Parameters p, DitConfig c) {
        return new Attention.Weights(Linear.of(p.matrix("to_q.weight", c.inner(), c.hidden())), Linear.of(p.matrix("to_k.weight", c.inner(), c.hidden())),
                Linear.of(p.matrix("to_v.weight", c.inner(), c.hidden())), Linear.of(p.matrix("to_out.0.weight", c.hidden(), c.inner())),
                p.f32("norm_q.weight", c.headDim()), p.f32("norm_k.weight", c.headDim()));
    }

    /** The diffusers layout stacks the value half above the gate half. */
    private static FeedForward.Weights feedForward(Parameters p, DitConfig c) {
        List<Weight> halves = p.stackedMatrices("0.proj.weight", 2, c.ffn(), c.hidden());
        return new FeedForward.Weights(Linear.of(halves.get(1)), Linear.of(halves.get(0)), Linear.of(p.matrix("2.weight", c.hidden(), c.ffn())));
    }

    /**
     * The same block with the low-rank deltas in force on its layers.
     *
     * @param block its name with a dot at the end
     */
    static PreNormBlock.Weights adapted(PreNormBlock.Weights w, String block, AdaptersInForce adapters) {
        if (adapters.none()) {
            return w;
        }
        Attention.Weights a = w.attention();
        FeedForward.Weights f = w.feedForward();
        String inner = block + "ff.net.0.proj";
        return new PreNormBlock.Weights(w.norm1(),
                new Attention.Weights(adapters.on(block + "attn.to_q", a.q()), adapters.on(block + "attn.to_k", a.k()),
                        adapters.on(block + "attn.to_v", a.v()), adapters.on(block + "attn.to_out.0", a.out()), a.normQ(), a.normK()),
                w.norm2(),
                new FeedForward.Weights(adapters.on(new AdapterTarget(inner, AdapterTarget.Part.GATE), f.gate()),
                        adapters.on(new AdapterTarget(inner, AdapterTarget.Part.VALUE), f.up()), adapters.on(block + "ff.net.2", f.down())));
    }
}

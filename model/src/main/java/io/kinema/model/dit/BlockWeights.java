package io.kinema.model.dit;

import io.kinema.compute.Tensor;
import io.kinema.compute.Weight;
import io.kinema.compute.collective.Communicator;
import io.kinema.model.adapter.AdapterTarget;
import io.kinema.model.layer.Attention;
import io.kinema.model.layer.FeedForward;
import io.kinema.model.layer.Linear;
import io.kinema.model.layer.PreNormBlock;
import io.kinema.model.load.Parameters;
import io.kinema.model.load.Share;
import io.kinema.weights.StoredMatrix;
import io.kinema.weights.TensorSource;
import java.util.List;

/** Reads the weights of one block or refiner block, which differ only in what they are called and in their AdaLN. */
final class BlockWeights {
    private static final String OUT = "to_out.0.weight";
    private static final String DOWN = "2.weight";

    private BlockWeights() {
    }

    /**
     * @param p     a reader whose prefix ends with the block's name and a dot
     * @param ranks read a part each: some heads, some channels of gate and up, and the columns of the two other matrices that read them
     */
    static PreNormBlock.Weights read(Parameters p, DitConfig c, Communicator ranks) {
        return read(p, c, ranks, norm1(p, c));
    }

    /** @param norm1 what {@link #norm1} gave, which may live elsewhere */
    static PreNormBlock.Weights read(Parameters p, DitConfig c, Communicator ranks, Tensor norm1) {
        return new PreNormBlock.Weights(norm1, attention(p.under("attn."), c, ranks),
                p.f32("norm2.weight", c.hidden()), feedForward(p.under("ff.net."), c, ranks));
    }

    static Tensor norm1(Parameters p, DitConfig c) {
        return p.f32("norm1.weight", c.hidden());
    }

    /** Checks that the columns of a block's matrices can be shared out, without reading them. @param block its name with a dot at the end */
    static void requireShares(TensorSource source, String block, int ranks) {
        Share any = new Share(Share.Axis.INPUTS, 0, ranks);
        List<StoredMatrix> shared = List.of(source.matrix(block + "attn." + OUT, 0, 1), source.matrix(block + "ff.net." + DOWN, 0, 1));
        List<Long> widths = shared.stream().map(StoredMatrix::columns).toList();
        shared.forEach(matrix -> any.requireWholeGroups(matrix, widths));
    }

    private static Attention.Weights attention(Parameters p, DitConfig c, Communicator ranks) {
        Share heads = Share.outputs(ranks);
        return new Attention.Weights(Linear.of(p.matrix("to_q.weight", c.inner(), c.hidden(), heads)),
                Linear.of(p.matrix("to_k.weight", c.inner(), c.hidden(), heads)), Linear.of(p.matrix("to_v.weight", c.inner(), c.hidden(), heads)),
                Linear.of(p.matrix(OUT, c.hidden(), c.inner(), Share.inputs(ranks))), p.f32("norm_q.weight", c.headDim()), p.f32("norm_k.weight", c.headDim()));
    }

    /** The diffusers layout stacks the value half above the gate half. */
    private static FeedForward.Weights feedForward(Parameters p, DitConfig c, Communicator ranks) {
        List<Weight> halves = p.stackedMatrices("0.proj.weight", 2, c.ffn(), c.hidden(), Share.outputs(ranks));
        return new FeedForward.Weights(Linear.of(halves.get(1)), Linear.of(halves.get(0)), Linear.of(p.matrix(DOWN, c.hidden(), c.ffn(), Share.inputs(ranks))));
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

package io.kinema.model.dit;

import io.kinema.model.adapter.TransformerTensors;
import io.kinema.model.load.Inventory;
import io.kinema.model.load.Inventory.Rule;
import io.kinema.weights.Shape;
import java.util.LinkedHashMap;
import java.util.SequencedMap;

/** Every tensor of the transformer in the diffusers layout, as its config implies. */
public final class DitTensors {
    /** The table of pruned weights, under one name in every layout. */
    public static final String CURVE_TABLE = "adaln_t_table";

    private DitTensors() {
    }

    public static Inventory of(DitConfig c) {
        Inventory.Builder all = Inventory.builder();
        all.affine("proj_in", Rule.FP32, c.hidden(), c.videoPatchDim());
        all.affine("audio_proj_in", Rule.FP32, c.hidden(), c.audioChannels());
        all.affine("context_embedder", c.hidden(), c.textDim());
        c.curve().ifPresentOrElse(curve -> all.add(CURVE_TABLE, Rule.FP32, curve.points(), curve.rank()), () -> {
            all.affine("time_embedder.linear_1", Rule.FP32, c.timeHidden(), c.freqDim());
            all.affine("time_embedder.linear_2", Rule.FP32, c.timeDim(), c.timeHidden());
        });
        all.blocks("token_refiner.refiner_blocks.", c.refinerLayers(), block -> block(block, c));
        all.add("token_refiner.final_norm.weight", c.hidden());
        all.blocks("transformer_blocks.", c.layers(), block -> {
            block(block, c);
            block.affine("adaln_proj.linear", (long) DitConfig.MODALITIES * Modulation.Part.COUNT * c.hidden(), c.adaInput());
        });
        all.add("norm_out.norm.weight", c.hidden());
        all.affine("norm_out.linear", 2L * c.hidden(), c.adaInput());
        all.affine("proj_out", Rule.FP32, c.videoPatchDim(), c.hidden());
        all.affine("audio_proj_out", Rule.FP32, c.audioChannels(), c.hidden());
        return all.build();
    }

    /** The same tensors as what adapters are checked against. */
    public static TransformerTensors forAdapters(DitConfig c) {
        SequencedMap<String, Shape> shapes = new LinkedHashMap<>();
        of(c).entries().forEach(entry -> shapes.put(entry.name(), entry.shape()));
        return new TransformerTensors(shapes, c.headDim());
    }

    /**
     * True for what every step reads. The AdaLN projections, two fifths of a released transformer, are read once a request: copies of them in
     * scarce host memory would speed up nothing.
     */
    public static boolean everyStep(String name) {
        return !name.contains(".adaln_proj.");
    }

    private static void block(Inventory.Builder block, DitConfig c) {
        block.add("norm1.weight", c.hidden());
        block.add("attn.to_q.weight", c.inner(), c.hidden());
        block.add("attn.to_k.weight", c.inner(), c.hidden());
        block.add("attn.to_v.weight", c.inner(), c.hidden());
        block.add("attn.norm_q.weight", c.headDim());
        block.add("attn.norm_k.weight", c.headDim());
        block.add("attn.to_out.0.weight", c.hidden(), c.inner());
        block.add("norm2.weight", c.hidden());
        block.add("ff.net.0.proj.weight", 2L * c.ffn(), c.hidden());
        block.add("ff.net.2.weight", c.hidden(), c.ffn());
    }
}

package io.kinema.model.dit;

import io.kinema.model.adapter.TransformerTensors;
import io.kinema.weights.Shape;
import java.util.LinkedHashMap;
import java.util.SequencedMap;

/** Names and shapes of the transformer's tensors in the diffusers layout, from its config alone. */
public final class DitTensors {
    private final SequencedMap<String, Shape> shapes = new LinkedHashMap<>();

    private DitTensors() {
    }

    /** All tensors of a transformer of this config. */
    public static TransformerTensors of(DitConfig c) {
        DitTensors all = new DitTensors();
        all.projection("proj_in", c.hidden(), c.videoPatchDim());
        all.projection("audio_proj_in", c.hidden(), c.audioChannels());
        all.projection("context_embedder", c.hidden(), c.textDim());
        all.projection("time_embedder.linear_1", c.timeHidden(), c.freqDim());
        all.projection("time_embedder.linear_2", c.timeDim(), c.timeHidden());
        for (int i = 0; i < c.refinerLayers(); i++) {
            all.block("token_refiner.refiner_blocks." + i + ".", c);
        }
        all.put("token_refiner.final_norm.weight", c.hidden());
        for (int i = 0; i < c.layers(); i++) {
            all.block("transformer_blocks." + i + ".", c);
            all.projection("transformer_blocks." + i + ".adaln_proj.linear", (long) DitConfig.MODALITIES * Modulation.Part.COUNT * c.hidden(), c.timeDim());
        }
        all.put("norm_out.norm.weight", c.hidden());
        all.projection("norm_out.linear", 2L * c.hidden(), c.timeDim());
        all.projection("proj_out", c.videoPatchDim(), c.hidden());
        all.projection("audio_proj_out", c.audioChannels(), c.hidden());
        return new TransformerTensors(all.shapes, c.headDim());
    }

    private void block(String prefix, DitConfig c) {
        put(prefix + "norm1.weight", c.hidden());
        for (String name : new String[] {"to_q", "to_k", "to_v"}) {
            put(prefix + "attn." + name + ".weight", c.inner(), c.hidden());
        }
        put(prefix + "attn.to_out.0.weight", c.hidden(), c.inner());
        put(prefix + "attn.norm_q.weight", c.headDim());
        put(prefix + "attn.norm_k.weight", c.headDim());
        put(prefix + "norm2.weight", c.hidden());
        put(prefix + "ff.net.0.proj.weight", 2L * c.ffn(), c.hidden());
        put(prefix + "ff.net.2.weight", c.hidden(), c.ffn());
    }

    private void projection(String name, long out, long in) {
        put(name + ".weight", out, in);
        put(name + ".bias", out);
    }

    private void put(String name, long... dims) {
        shapes.put(name, Shape.of(dims));
    }
}

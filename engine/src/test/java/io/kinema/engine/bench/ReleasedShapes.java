package io.kinema.engine.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.engine.model.BundledModel;
import io.kinema.model.dit.DitConfig;
import io.kinema.model.dit.DitTensors;
import io.kinema.model.load.Inventory;
import io.kinema.weights.DType;
import io.kinema.weights.RandomTensors;
import io.kinema.weights.SafetensorsWriter;
import io.kinema.weights.TensorSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * Writes a transformer whose layers have the released sizes and random BF16 values, every byte of them, and whose ends fit the bundled
 * model, so that a whole request runs with it. A program, not a test.
 */
public final class ReleasedShapes {
    private static final long SEED = 1;

    private ReleasedShapes() {
    }

    /** Arguments: the folder to write, and the number of layers (3 make 5.5 GB). */
    public static void main(String[] arguments) throws IOException {
        Path folder = Files.createDirectories(Path.of(arguments[0]));
        ObjectMapper mapper = new ObjectMapper();
        ObjectNode config = (ObjectNode) mapper.readTree(BundledModel.folder().resolve("transformer/config.json").toFile());
        DitConfig released = DitConfig.RELEASED;
        config.put("attention_head_dim", released.headDim()).put("num_attention_heads", released.heads()).put("hidden_size", released.hidden())
                .put("ffn_dim", released.ffn()).put("num_layers", Integer.parseInt(arguments[1])).put("num_refiner_layers", released.refinerLayers())
                .put("rope_freq_dim", released.ropeFrequencies()).put("time_embed_dim", released.timeDim()).put("time_embed_hidden_dim", released.timeHidden());
        mapper.writeValue(folder.resolve("config.json").toFile(), config);
        List<RandomTensors.Entry> entries = DitTensors.of(DitConfig.read(config)).entries().stream()
                .map(e -> new RandomTensors.Entry(e.name(), e.rule() == Inventory.Rule.FP32 ? DType.F32 : DType.BF16, e.shape())).toList();
        try (TensorSource values = RandomTensors.of("released shapes", entries, SEED)) {
            SafetensorsWriter.write(folder.resolve("model.safetensors"), values.names().stream().map(values::get).toList(), Map.of());
        }
    }
}

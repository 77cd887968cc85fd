package io.kinema.engine.inspect;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.engine.Geometries;
import io.kinema.engine.model.Component;
import io.kinema.engine.model.ModelFolder;
import io.kinema.engine.model.NetworkFolder;
import io.kinema.model.load.Inventory.Entry;
import io.kinema.model.load.Inventory.Rule;
import io.kinema.weights.DType;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPInputStream;

/** Lays out a checkpoint of the released size from the released configs and indexes: real headers, no data on the disk. */
public final class FullSizeCheckpoint {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Path RELEASED = Geometries.ROOT.resolve("testdata/released");
    private static final String INDEX = ".safetensors.index.json";

    private FullSizeCheckpoint() {
    }

    /** Writes {@code FL2VA} (original layout) and {@code diffusers} into a folder, to be inspected by hand. */
    public static void main(String[] args) throws IOException {
        original(Path.of(args[0]).resolve("FL2VA"));
        diffusers(Path.of(args[0]).resolve("diffusers"));
    }

    static Path original(Path to) throws IOException {
        for (String file : List.of("model_index.json", "transformer/config.json", "video_vae/config.json", "video_vae/source/config.json",
                "audio_vae/config.json", "audio_vae/metadata.json", "text_encoder/config.json")) {
            copy("FL2VA/" + file, to.resolve(file));
        }
        return filled(to, Map.of(Component.TRANSFORMER, "FL2VA/transformer/model", Component.TEXT_ENCODER, "FL2VA/text_encoder/model"));
    }

    static Path diffusers(Path to) throws IOException {
        for (String file : List.of("model_index.json", "transformer/config.json", "vae/config.json", "audio_vae/config.json")) {
            copy(file, to.resolve(file));
        }
        copy("transformer/config.json", to.resolve("transformer_ref/config.json"));
        copy("FL2VA/text_encoder/config.json", to.resolve("text_encoder/config.json"));
        return filled(to, Map.of(Component.TRANSFORMER, "transformer/diffusion_pytorch_model", Component.TRANSFORMER_REF,
                "transformer/diffusion_pytorch_model", Component.VIDEO_VAE, "vae/diffusion_pytorch_model",
                Component.TEXT_ENCODER, "FL2VA/text_encoder/model"));
    }

    private static Path filled(Path root, Map<Component, String> indexes) throws IOException {
        ModelFolder model = ModelFolder.open(root);
        for (Component component : model.folders().keySet()) {
            if (component.network()) {
                NetworkFolder network = model.network(component);
                if (indexes.containsKey(component)) {
                    sharded(network, indexes.get(component));
                } else {
                    Path file = network.weights().toString().endsWith(".safetensors") ? network.weights() : network.weights().resolve("model.safetensors");
                    sparse(file, entries(network));
                }
            }
        }
        return root;
    }

    /** The tensors in the shards that the released index names. */
    private static void sharded(NetworkFolder network, String name) throws IOException {
        JsonNode index = read(name + INDEX + ".gz");
        Map<String, List<Entry>> shards = new LinkedHashMap<>();
        entries(network).forEach(e -> shards.computeIfAbsent(index.get("weight_map").path(e.name()).asText(), s -> new ArrayList<>()).add(e));
        for (Map.Entry<String, List<Entry>> shard : shards.entrySet()) {
            sparse(network.weights().resolve(shard.getKey()), shard.getValue());
        }
        JSON.writeValue(network.weights().resolve(Path.of(name).getFileName() + INDEX).toFile(), index);
    }

    private static List<Entry> entries(NetworkFolder network) {
        return List.copyOf(network.network().stored(network.layout(), network.config()).entries());
    }

    private static void sparse(Path file, List<Entry> entries) throws IOException {
        boolean vae = file.toString().contains("vae");
        ObjectNode header = JSON.createObjectNode();
        long at = 0;
        long frequencies = -1;
        for (Entry entry : entries) {
            boolean dropped = entry.name().equals("rope.inv_freq");
            frequencies = dropped ? at : frequencies;
            DType dtype = vae || dropped || entry.rule() == Rule.FP32 ? DType.F32 : DType.BF16;
            ObjectNode tensor = header.putObject(entry.name()).put("dtype", dtype.name());
            for (long size : entry.shape().toArray()) {
                tensor.withArray("shape").add(size);
            }
            tensor.putArray("data_offsets").add(at).add(at += entry.shape().elements() * dtype.bytes());
        }
        byte[] json = JSON.writeValueAsString(header).getBytes(StandardCharsets.UTF_8);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE, StandardOpenOption.SPARSE)) {
            channel.write(ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(json.length).flip());
            channel.write(ByteBuffer.wrap(json));
            channel.write(ByteBuffer.wrap(new byte[1]), 8 + json.length + at - 1);
            if (frequencies >= 0) {
                channel.write(rotaryFrequencies(), 8 + json.length + frequencies);
            }
        }
    }

    /** The only values that opening looks at. */
    private static ByteBuffer rotaryFrequencies() {
        ByteBuffer values = ByteBuffer.allocate(16 * 4).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < 16; i++) {
            values.putFloat((float) Math.pow(10000, -i / 16.0));
        }
        return values.flip();
    }

    private static void copy(String name, Path to) throws IOException {
        Files.createDirectories(to.getParent());
        Files.copy(RELEASED.resolve(name), to);
    }

    private static JsonNode read(String name) throws IOException {
        try (InputStream in = new GZIPInputStream(Files.newInputStream(RELEASED.resolve(name)))) {
            return JSON.readTree(in);
        }
    }
}

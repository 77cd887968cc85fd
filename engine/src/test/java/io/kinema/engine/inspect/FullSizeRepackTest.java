package io.kinema.engine.inspect;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.engine.Geometries;
import io.kinema.engine.Task;
import io.kinema.engine.model.NetworkFolder;
import io.kinema.engine.model.TransformerWeights;
import io.kinema.model.dit.DitConfig;
import io.kinema.model.layout.Network;
import io.kinema.model.layout.WeightLayout;
import io.kinema.model.load.Inventory.Entry;
import io.kinema.model.load.Inventory.Rule;
import io.kinema.weights.StoredMatrix;
import io.kinema.weights.TensorSource;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A pruned INT8 ConvRot repack of the released size: real headers, scales and markers, no codes on the disk. */
class FullSizeRepackTest {
    private static final DitConfig PRUNED = DitConfig.RELEASED.with(Optional.of(new DitConfig.Curve(1025, 8)));
    private static final byte[] MARKER = "{\"format\": \"int8_tensorwise\", \"convrot\": true, \"convrot_groupsize\": 256}".getBytes(StandardCharsets.UTF_8);

    @TempDir
    Path folder;

    @Test
    void isRecognisedAndOpenedWithoutReadingCodes() throws IOException {
        Path file = write(folder.resolve("minimax_h3_fl2va_pruned_int8_convrot.safetensors"));
        Path model = Files.createDirectory(folder.resolve("transformer"));
        Files.copy(Geometries.ROOT.resolve("testdata/released/transformer/config.json"), model.resolve("config.json"));
        TransformerWeights weights = TransformerWeights.of(NetworkFolder.read(model), Optional.of(file)).requireFor(Task.T2VA);
        assertThat(weights.layout()).isEqualTo(WeightLayout.COMFYUI);
        assertThat(DitConfig.read(weights.config())).isEqualTo(PRUNED);
        try (TensorSource source = weights.open()) {
            assertThat(source.names()).containsExactlyInAnyOrderElementsOf(Network.transformer(WeightLayout.DIFFUSERS, PRUNED).entries().stream().map(Entry::name).toList());
            StoredMatrix v = source.matrix("transformer_blocks.49.attn.to_v.weight");
            assertThat(v.rows()).isEqualTo(7168);
            assertThat(v.columns()).isEqualTo(5376);
            assertThat(v.rotation()).isEqualTo(OptionalInt.of(256));
            StoredMatrix gate = source.matrix("transformer_blocks.0.ff.net.0.proj.weight", 14336, 28672);
            assertThat(gate.rows()).isEqualTo(14336);
        }
        ComponentReport report = ModelInspector.inspect(file).components().getFirst();
        assertThat(report.fit()).contains(new ComponentReport.Fit(WeightLayout.COMFYUI, Optional.empty()));
        assertThat(report.tensors()).hasSize(532);
        assertThat(report.encodings()).anySatisfy(e -> {
            assertThat(e.name()).isEqualTo("INT8 rotated by 256");
            assertThat(e.tensors()).isEqualTo(200);
            assertThat(e.bytes()).isEqualTo(19_267_584_000L + 12_185_600L);
        });
    }

    private static Path write(Path file) throws IOException {
        ObjectMapper json = new ObjectMapper();
        ObjectNode header = json.createObjectNode();
        Map<Long, ByteBuffer> contents = new LinkedHashMap<>();
        long at = 0;
        for (Entry entry : Network.transformer(WeightLayout.ORIGINAL, PRUNED).entries()) {
            String name = entry.name();
            if (!name.matches("blocks\\.\\d+\\.(attn\\.(qkv|out)_proj|mlp\\.fc[12])\\.weight")) {
                boolean wide = entry.rule() == Rule.FP32 || entry.rule() == Rule.UNREAD;
                if (name.equals("rope.inv_freq")) {
                    contents.put(at, frequencies());
                }
                at = put(header, name, wide ? "F32" : "BF16", at, wide ? 4 : 2, entry.shape().toArray());
                continue;
            }
            String module = name.substring(0, name.length() - ".weight".length());
            at = put(header, name, "I8", at, 1, entry.shape().toArray());
            contents.put(at, ones((int) entry.shape().dim(0)));
            at = put(header, module + ".weight_scale", "F32", at, 4, entry.shape().dim(0), 1);
            contents.put(at, ByteBuffer.wrap(MARKER));
            at = put(header, module + ".comfy_quant", "U8", at, 1, MARKER.length);
        }
        byte[] text = json.writeValueAsBytes(header);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE, StandardOpenOption.SPARSE)) {
            channel.write(ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(text.length).flip());
            channel.write(ByteBuffer.wrap(text));
            channel.write(ByteBuffer.wrap(new byte[1]), 8 + text.length + at - 1);
            for (Map.Entry<Long, ByteBuffer> content : contents.entrySet()) {
                channel.write(content.getValue(), 8 + text.length + content.getKey());
            }
        }
        return file;
    }

    private static long put(ObjectNode header, String name, String dtype, long at, int size, long... shape) {
        ObjectNode tensor = header.putObject(name).put("dtype", dtype);
        long count = 1;
        for (long dim : shape) {
            tensor.withArray("shape").add(dim);
            count *= dim;
        }
        tensor.putArray("data_offsets").add(at).add(at + count * size);
        return at + count * size;
    }

    private static ByteBuffer ones(int count) {
        ByteBuffer values = ByteBuffer.allocate(4 * count).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < count; i++) {
            values.putFloat(1);
        }
        return values.flip();
    }

    private static ByteBuffer frequencies() {
        ByteBuffer values = ByteBuffer.allocate(16 * 4).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < 16; i++) {
            values.putFloat((float) Math.pow(10000, -i / 16.0));
        }
        return values.flip();
    }
}

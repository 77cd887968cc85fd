package io.kinema.engine.inspect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kinema.engine.Geometries;
import io.kinema.weights.BadWeightsException;
import io.kinema.weights.SafetensorsWriter;
import io.kinema.weights.Shape;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ModelInspectorTest {
    @TempDir
    Path folder;

    @Test
    void listsTheComponentsOfAModel() {
        ModelReport report = ModelInspector.inspect(Geometries.TINY);
        assertThat(report.components()).extracting(ComponentReport::name)
                .contains("text_encoder", "tokenizer", "vae", "audio_vae", "transformer", "transformer_ref", "scheduler");
        ComponentReport transformer = named(report, "transformer");
        assertThat(transformer.className()).contains("MiniMaxH3Transformer3DModel");
        assertThat(transformer.encodings()).extracting(ComponentReport.Encoding::name).containsExactly("BF16", "F32");
        assertThat(transformer.encodings().stream().mapToLong(ComponentReport.Encoding::parameters).sum()).isEqualTo(transformer.parameters());
        assertThat(transformer.encodings().stream().mapToLong(ComponentReport.Encoding::bytes).sum()).isEqualTo(transformer.bytes());
        assertThat(transformer.files()).hasSize(4);
        assertThat(named(report, "tokenizer").tensors()).isEmpty();
        assertThat(report.bytes()).isEqualTo(report.components().stream().mapToLong(ComponentReport::bytes).sum());
    }

    @Test
    void countsSharedFoldersOnce() {
        ModelReport report = ModelInspector.inspect(Geometries.NANO);
        ComponentReport ref = named(report, "transformer_ref");
        assertThat(ref.sharedWith()).contains("transformer");
        assertThat(ref.parameters()).isEqualTo(named(report, "transformer").parameters());
        assertThat(report.parameters()).isEqualTo(report.components().stream().filter(c -> c != ref).mapToLong(ComponentReport::parameters).sum());
    }

    @Test
    void readsOneComponentOneFileAndAFolderOfFolders() throws IOException {
        ComponentReport component = ModelInspector.inspect(Geometries.TINY.resolve("audio_vae")).components().getFirst();
        assertThat(component.className()).contains("AutoencoderKLMiniMaxH3Audio");
        Path file = component.files().getFirst();
        assertThat(ModelInspector.inspect(file).components().getFirst().tensors()).isEqualTo(component.tensors());
        Path loose = Files.createDirectories(folder.resolve("parts/FL2VA/vae"));
        Files.copy(file, loose.resolve("x.safetensors"));
        assertThat(ModelInspector.inspect(folder.resolve("parts")).components()).extracting(ComponentReport::name).containsExactly("FL2VA/vae");
    }

    /** Full-size tensors that occupy no disk: only the header is read. */
    @Test
    void readsNoTensorData() throws IOException {
        Path file = folder.resolve("big.safetensors");
        byte[] header = """
                {"blocks.0.adaln_proj.linear.weight":{"dtype":"F32","shape":[96768,16384],"data_offsets":[0,6341787648]}}""".getBytes(StandardCharsets.UTF_8);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE, StandardOpenOption.SPARSE)) {
            channel.write(ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(header.length).flip());
            channel.write(ByteBuffer.wrap(header));
            channel.write(ByteBuffer.wrap(new byte[1]), 8 + header.length + 6341787648L - 1);
        }
        // Of this thread alone: other processes do not lengthen it, and to read six gigabytes takes longer.
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadCpuTime();
        ModelReport report = ModelInspector.inspect(file);
        assertThat(threads.getCurrentThreadCpuTime() - before).as("nanoseconds of a processor").isLessThan(1_000_000_000L);
        assertThat(report.bytes()).isEqualTo(6341787648L);
        assertThat(report.components().getFirst().tensors().getFirst().shape()).isEqualTo(Shape.of(96768, 16384));
    }

    @Test
    void saysWhatIsWrong() throws IOException {
        assertThatThrownBy(() -> ModelInspector.inspect(folder.resolve("no"))).isInstanceOf(BadWeightsException.class).hasMessageContaining("no such file or folder");
        assertThatThrownBy(() -> ModelInspector.inspect(folder)).isInstanceOf(BadWeightsException.class).hasMessageContaining("no model_index.json");
        Files.writeString(folder.resolve("model_index.json"), "{\"vae\":[\"diffusers\",\"X\",{\"subfolder\":\"../other\"}]}");
        assertThatThrownBy(() -> ModelInspector.inspect(folder)).isInstanceOf(BadWeightsException.class).hasMessageContaining("inside the model folder");
        Files.writeString(folder.resolve("model_index.json"), "{\"vae\":[\"diffusers\",\"X\"]}");
        assertThatThrownBy(() -> ModelInspector.inspect(folder)).isInstanceOf(BadWeightsException.class).hasMessageContaining("the model is incomplete");
        Path vae = Files.createDirectory(folder.resolve("vae"));
        SafetensorsWriter.write(vae.resolve("x.safetensors"), List.of(), Map.of());
        assertThat(ModelInspector.inspect(folder).parameters()).isZero();
        Files.move(vae.resolve("x.safetensors"), vae.resolve("x.safetensors.incomplete"));
        assertThatThrownBy(() -> ModelInspector.inspect(folder)).isInstanceOf(BadWeightsException.class).hasMessageContaining("unfinished download");
    }

    private static ComponentReport named(ModelReport report, String name) {
        return report.components().stream().filter(c -> c.name().equals(name)).findFirst().orElseThrow();
    }
}

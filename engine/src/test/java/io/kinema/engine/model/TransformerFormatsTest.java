package io.kinema.engine.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.kinema.compute.Backend;
import io.kinema.compute.Precision;
import io.kinema.compute.cpu.CpuBackend;
import io.kinema.engine.Geometries;
import io.kinema.engine.Task;
import io.kinema.engine.model.TransformerFile.Tensor;
import io.kinema.model.dit.Dit;
import io.kinema.model.dit.DitConfig;
import io.kinema.model.layout.WeightLayout;
import io.kinema.model.load.Parameters.Rounding;
import io.kinema.weights.BadWeightsException;
import io.kinema.weights.Checkpoint;
import io.kinema.weights.DType;
import io.kinema.weights.FloatConversion;
import io.kinema.weights.MatrixValues;
import io.kinema.weights.StoredMatrix;
import io.kinema.weights.TensorSource;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A tiny transformer in every format that other programs write: the same values, or refused by the tensor's name. */
class TransformerFormatsTest {
    private static final NetworkFolder OWN = ModelFolder.open(Geometries.TINY).network(Component.TRANSFORMER);
    private static final int FREQUENCIES = DitConfig.read(OWN.config()).ropeFrequencies();
    private static final String QKV = "blocks.1.attn.qkv_proj.weight";

    @TempDir
    Path folder;

    private final TransformerFile transformer = TransformerFile.of(OWN.folder(), FREQUENCIES);

    @Test
    void comfyUisRowOrderOnceItIsStatedBareAndPrefixed() {
        for (String prefix : new String[] {"", "model.diffusion_model."}) {
            Path file = transformer.plain(folder.resolve("x" + prefix + "safetensors"), prefix);
            assertThatExceptionOfType(BadWeightsException.class).isThrownBy(() -> TransformerWeights.of(OWN, Optional.of(file)))
                    .withMessageContaining("the order of its QKV rows is unknown").withMessageContaining("--transformer-layout comfyui");
            TransformerWeights weights = TransformerWeights.of(OWN, Optional.of(file), Optional.of(WeightLayout.COMFYUI));
            assertThat(weights.layout()).isEqualTo(WeightLayout.COMFYUI);
            assertThat(distance(weights)).isZero();
        }
        Path both = transformer.put("model.diffusion_model.blocks.0.norm1.weight", vector(48)).plain(folder.resolve("both.safetensors"), "");
        refused(both, "has no prefix model.diffusion_model.");
    }

    @Test
    void float8ScaledByTensorAndByRow() {
        for (boolean perRow : new boolean[] {false, true}) {
            TransformerWeights weights = TransformerWeights.of(OWN, Optional.of(transformer.float8(folder.resolve("f8-" + perRow + ".safetensors"), perRow)));
            assertThat(weights.layout()).isEqualTo(WeightLayout.COMFYUI);
            assertThat(distance(weights)).as("half a step of 3 bits").isBetween(0.01, 0.04);
        }
    }

    @Test
    void ggufWithEveryReadableType() throws IOException {
        assertThat(distance(TransformerWeights.of(OWN, Optional.of(transformer.gguf(folder.resolve("f.gguf"), false, n -> false))))).isZero();
        TransformerWeights q8 = TransformerWeights.of(OWN, Optional.of(transformer.gguf(folder.resolve("q8.gguf"), false, n -> n.contains(".weight"))));
        assertThat(distance(q8)).isBetween(1e-4, 0.01);
        // Rows of 48 values are no whole blocks of 256: blocks run across rows, and the file has the true shape beside.
        TransformerWeights q4 = TransformerWeights.of(OWN, Optional.of(transformer.gguf(folder.resolve("q4.gguf"), true, TransformerFile::matrixOfABlock)));
        assertThat(distance(q4)).isBetween(0.01, 0.12);
        try (TensorSource source = q4.open()) {
            assertThat(source.matrix("transformer_blocks.1.attn.to_k.weight").encoding()).isEqualTo("Q4_K");
            assertThat(source.matrix("transformer_blocks.1.attn.to_k.weight").rows()).isEqualTo(64);
        }
    }

    @Test
    void aMixedFileIsReadTensorByTensor() throws IOException {
        Path file = transformer.gguf(folder.resolve("mixed.gguf"), true, n -> n.contains("fc2"));
        try (TensorSource source = TransformerWeights.of(OWN, Optional.of(file)).open()) {
            assertThat(source.matrix("transformer_blocks.0.ff.net.2.weight").encoding()).isEqualTo("Q4_K");
            assertThat(source.matrix("transformer_blocks.0.attn.to_q.weight").encoding()).isEqualTo("BF16");
        }
    }

    @Test
    void thePartitionOfARepackIsInItsNameOnly() {
        Path file = transformer.float8(folder.resolve("minimax_h3_ref2va_fp8_scaled.safetensors"), false);
        TransformerWeights weights = TransformerWeights.of(OWN, Optional.of(file));
        assertThat(weights.requireFor(Task.REF2VA)).isSameAs(weights);
        assertThat(weights.isFor(Task.REF2VA)).isTrue();
        assertThat(weights.isFor(Task.FL2VA)).isFalse();
        assertThatExceptionOfType(BadWeightsException.class).isThrownBy(() -> weights.requireFor(Task.T2VA))
                .withMessageContaining("is of the partition ref2va by its name, expected fl2va for task t2va");
        Path unnamed = transformer.float8(folder.resolve("mine.safetensors"), false);
        TransformerWeights.of(OWN, Optional.of(unnamed)).requireFor(Task.T2VA);
    }

    /** Item 5: in every format, a tensor that is gone, one too many and one of another shape are refused by name before anything runs. */
    @Test
    void removedAddedAndMisshapenTensorsAreRefusedByName() throws IOException {
        Tensor removed = transformer.tensors().remove(QKV);
        eachFormat("1 missing (" + QKV);
        transformer.put(QKV, removed).put("blocks.1.attn.extra.weight", vector(7));
        eachFormat("1 not expected (blocks.1.attn.extra.weight)");
        transformer.tensors().remove("blocks.1.attn.extra.weight");
        transformer.put("blocks.2.norm2.weight", vector(47));
        eachFormat("1 of another shape (blocks.2.norm2.weight is [47], expected [48])");
    }

    @Test
    void damagedValuesAreRefusedByName() throws IOException {
        Path nan = transformer.float8(folder.resolve("nan.safetensors"), true);
        patch(nan, QKV, 17, new byte[] {0x7f});
        loadRefused(nan, QKV, "FP8 E4M3 scaled by row", "element 17 is NaN");
        Path scale = transformer.float8(folder.resolve("scale.safetensors"), true);
        patch(scale, "blocks.1.attn.qkv_proj.weight_scale", 4, floats(Float.NaN));
        refused(scale, "blocks.1.attn.qkv_proj.weight_scale element 1 is NaN");
        Path marker = transformer.float8(folder.resolve("marker.safetensors"), true);
        patch(marker, "blocks.1.attn.qkv_proj.comfy_quant", 0, new byte[] {'!'});
        refused(marker, "blocks.1.attn.qkv_proj.comfy_quant is not JSON");
        Path gguf = transformer.gguf(folder.resolve("inf.gguf"), false, TransformerFile::matrixOfABlock);
        patchGguf(gguf, QKV, new byte[] {0, 0x7c});
        loadRefused(gguf, QKV, "Q8_0", "is ");
        byte[] bytes = Files.readAllBytes(gguf);
        Path cut = Files.write(folder.resolve("cut.gguf"), Arrays.copyOf(bytes, bytes.length - 5000));
        refused(cut, "cut.gguf: tensor ");
    }

    @Test
    void aFileOfSomethingElseIsRefusedWithWhatIsUnderstood() {
        transformer.tensors().clear();
        Path other = transformer.put("double_blocks.0.img_attn.qkv.weight", vector(8)).plain(folder.resolve("other.safetensors"), "");
        refused(other, "no transformer of H3 by its tensor names (double_blocks.0.img_attn.qkv.weight); understood are the diffusers layout");
    }

    private void eachFormat(String message) throws IOException {
        Path plain = transformer.plain(folder.resolve("plain.safetensors"), "");
        assertThatExceptionOfType(BadWeightsException.class).isThrownBy(() -> TransformerWeights.of(OWN, Optional.of(plain), Optional.of(WeightLayout.COMFYUI)).open().close())
                .withMessageContaining(message);
        refused(transformer.float8(folder.resolve("f8.safetensors"), true), message);
        refused(transformer.gguf(folder.resolve("q8.gguf"), false, TransformerFile::matrixOfABlock), message);
        refused(transformer.gguf(folder.resolve("q4.gguf"), true, TransformerFile::matrixOfABlock), message);
    }

    private static void refused(Path file, String message) {
        assertThatExceptionOfType(BadWeightsException.class).isThrownBy(() -> TransformerWeights.of(OWN, Optional.of(file)).open().close())
                .withMessageContaining(message).withMessageContaining(file.getFileName().toString());
    }

    /** What only the values show is found when they are loaded. */
    private static void loadRefused(Path file, String... messages) {
        try (TensorSource source = TransformerWeights.of(OWN, Optional.of(file)).open();
             Backend backend = CpuBackend.open(1)) {
            assertThatExceptionOfType(BadWeightsException.class).isThrownBy(() -> Dit.open(backend, source, DitConfig.read(OWN.config()),
                    Precision.FP32, Rounding.AS_STORED).close()).satisfies(e -> assertThat(e.getMessage()).contains(messages));
        }
    }

    /** Relative L2 of the matrices from the model's own. */
    private static double distance(TransformerWeights weights) {
        double error = 0;
        double norm = 0;
        try (TensorSource source = weights.open(); Checkpoint own = Checkpoint.open(OWN.folder())) {
            assertThat(source.names()).containsExactlyInAnyOrderElementsOf(own.names());
            for (String name : own.names()) {
                float[] expected = FloatConversion.toFloats(own.get(name));
                float[] got = new float[expected.length];
                if (own.get(name).shape().rank() == 2) {
                    StoredMatrix matrix = source.matrix(name, 0, source.shape(name).dim(0) / 2);
                    MatrixValues.decode(matrix, 0, matrix.rows(), got, 0);
                    StoredMatrix rest = source.matrix(name, matrix.rows(), source.shape(name).dim(0));
                    MatrixValues.decode(rest, 0, rest.rows(), got, (int) (matrix.rows() * matrix.columns()));
                } else {
                    got = FloatConversion.toFloats(source.get(name));
                }
                for (int i = 0; i < got.length; i++) {
                    error += (got[i] - expected[i]) * (double) (got[i] - expected[i]);
                    norm += expected[i] * (double) expected[i];
                }
            }
        }
        return Math.sqrt(error / norm);
    }

    private static Tensor vector(int size) {
        return new Tensor(DType.F32, new long[] {size}, new float[size]);
    }

    private static byte[] floats(float value) {
        return ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putFloat(value).array();
    }

    /** Overwrites bytes of one tensor in a safetensors file. */
    private static void patch(Path file, String tensor, int at, byte[] bytes) throws IOException {
        byte[] all = Files.readAllBytes(file);
        int header = ByteBuffer.wrap(all).order(ByteOrder.LITTLE_ENDIAN).getInt();
        String json = new String(all, 8, header, StandardCharsets.UTF_8);
        long begin = new ObjectMapper().readTree(json).at("/" + tensor.replace("/", "~1") + "/data_offsets/0").asLong();
        System.arraycopy(bytes, 0, all, (int) (8 + header + begin + at), bytes.length);
        Files.write(file, all);
    }

    /** Overwrites the first bytes of one tensor in a GGUF file: its offset stands behind its name (the last time it occurs), sizes and type. */
    private static void patchGguf(Path file, String tensor, byte[] bytes) throws IOException {
        byte[] all = Files.readAllBytes(file);
        ByteBuffer buffer = ByteBuffer.wrap(all).order(ByteOrder.LITTLE_ENDIAN);
        String text = new String(all, StandardCharsets.ISO_8859_1);
        int name = text.lastIndexOf(tensor);
        int info = name + tensor.length();
        int axes = buffer.getInt(info);
        int offset = (int) buffer.getLong(info + 4 + 8 * axes + 4);
        int end = text.indexOf("rope.inv_freq") + "rope.inv_freq".length() + 4 + 8 + 4 + 8;
        int start = (end + 31) / 32 * 32;
        System.arraycopy(bytes, 0, all, start + offset, bytes.length);
        Files.write(file, all);
    }
}

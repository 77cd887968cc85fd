package io.kinema.model.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.compute.Backend;
import io.kinema.compute.DenseWeight;
import io.kinema.compute.MatrixLayout;
import io.kinema.compute.Workspace;
import io.kinema.compute.cpu.CpuBackend;
import io.kinema.model.GoldenCase;
import io.kinema.model.load.Parameters;
import io.kinema.model.load.Parameters.Rounding;
import io.kinema.weights.BadWeightsException;
import io.kinema.weights.Checkpoint;
import io.kinema.weights.DType;
import io.kinema.weights.MemoryTensors;
import io.kinema.weights.StoredTensor;
import io.kinema.weights.TensorSource;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The tiny transformer, stored as the original layout stores it by a map written here a second time, the other way round. */
class OriginalTensorsTest {
    private static final Path FOLDER = GoldenCase.bundled().resolve("checkpoint/transformer");
    private static final JsonNode CONFIG = GoldenCase.json(FOLDER.resolve("config.json"));

    private final Checkpoint diffusers = Checkpoint.open(FOLDER);

    @AfterEach
    void close() {
        diffusers.close();
    }

    @Test
    void everyTensorHasTheSameBits() {
        try (TensorSource original = open(stored())) {
            assertThat(original.names()).containsExactlyInAnyOrderElementsOf(diffusers.names());
            for (String name : diffusers.names()) {
                StoredTensor expected = diffusers.get(name);
                StoredTensor got = original.get(name);
                assertThat(got.name()).isEqualTo(name);
                assertThat(got.dtype()).as(name).isEqualTo(expected.dtype());
                assertThat(got.shape()).as(name).isEqualTo(expected.shape());
                assertThat(original.shape(name)).isEqualTo(expected.shape());
                assertThat(got.data().mismatch(expected.data())).as(name).isEqualTo(-1);
            }
        }
    }

    @Test
    void nothingIsCopiedUntilInterleavedRowsAreAskedFor() {
        try (OriginalTensors original = (OriginalTensors) open(stored())) {
            for (String name : original.names()) {
                original.shape(name);
            }
            String halves = "transformer_blocks.0.ff.net.0.proj.weight";
            long half = original.shape(halves).dim(0) / 2;
            StoredTensor value = original.rows(halves, 0, half);
            StoredTensor gate = original.rows(halves, half, 2 * half);
            original.get("transformer_blocks.0.adaln_proj.linear.weight");
            assertThat(original.gatheredBytes()).isZero();
            assertThat(value.data().mismatch(diffusers.rows(halves, 0, half).data())).isEqualTo(-1);
            assertThat(gate.data().mismatch(diffusers.rows(halves, half, 2 * half).data())).isEqualTo(-1);
            assertThat(original.rows(halves, half + 3, half + 7).data().mismatch(diffusers.rows(halves, half + 3, half + 7).data())).isEqualTo(-1);
            StoredTensor q = original.get("transformer_blocks.0.attn.to_q.weight");
            assertThat(original.gatheredBytes()).isEqualTo(q.data().byteSize());
            assertThat(original.get("transformer_blocks.0.attn.to_q.weight").data().address()).isEqualTo(q.data().address());
            assertThat(original.gatheredBytes()).isEqualTo(q.data().byteSize());
            assertThat(original.rows(halves, half - 1, half + 1).data().mismatch(diffusers.rows(halves, half - 1, half + 1).data())).isEqualTo(-1);
            assertThat(original.rows("transformer_blocks.0.attn.to_k.weight", 3, 5).data()
                    .mismatch(diffusers.rows("transformer_blocks.0.attn.to_k.weight", 3, 5).data())).isEqualTo(-1);
        }
    }

    /** Where matrices are rounded anyway, heads go straight to their place: the same values, and nothing is held twice. */
    @Test
    void roundedMatricesAreNotGatheredFirst() {
        try (OriginalTensors original = (OriginalTensors) open(stored()); Backend backend = CpuBackend.open(1); Workspace memory = backend.workspace("matrices")) {
            for (MatrixLayout layout : MatrixLayout.values()) {
                for (String name : List.of("transformer_blocks.0.attn.to_q.weight", "transformer_blocks.1.attn.to_v.weight")) {
                    long rows = diffusers.shape(name).dim(0);
                    long columns = diffusers.shape(name).dim(1);
                    DenseWeight expected = (DenseWeight) new Parameters(backend, diffusers, memory, "", Rounding.F16, layout).matrix(name, rows, columns);
                    DenseWeight got = (DenseWeight) new Parameters(backend, original, memory, "", Rounding.F16, layout).matrix(name, rows, columns);
                    assertThat(got.values().dtype()).isEqualTo(DType.F16);
                    assertThat(got.values().toFloats()).isEqualTo(expected.values().toFloats());
                }
            }
            assertThat(original.gatheredBytes()).isZero();
        }
    }

    @Test
    void useAfterCloseIsAnExceptionAndClosingTwiceIsHarmless() {
        TensorSource original = open(stored());
        StoredTensor q = original.get("transformer_blocks.0.attn.to_q.weight");
        original.close();
        original.close();
        assertThatIllegalStateException().isThrownBy(() -> original.find("transformer_blocks.0.attn.to_q.weight"));
        assertThatIllegalStateException().isThrownBy(() -> q.data().get(java.lang.foreign.ValueLayout.JAVA_BYTE, 0));
    }

    @Test
    void missingTensorsAreRefusedWithTheFirstThree() {
        SequencedMap<String, Stored> tensors = stored();
        tensors.keySet().removeIf(n -> n.endsWith(".mlp.fc2.weight"));
        refused(tensors, "5 missing (token_refiner.blocks.0.mlp.fc2.weight, token_refiner.blocks.1.mlp.fc2.weight, blocks.0.mlp.fc2.weight, ...)");
    }

    @Test
    void strangersAreRefusedWithTheFirstThree() {
        SequencedMap<String, Stored> tensors = stored();
        for (int i = 0; i < 4; i++) {
            tensors.put("blocks." + (3 + i) + ".norm1.weight", tensors.get("blocks.0.norm1.weight"));
        }
        refused(tensors, "4 not expected (blocks.3.norm1.weight, blocks.4.norm1.weight, blocks.5.norm1.weight, ...)");
    }

    @Test
    void wrongShapesAndDTypesAreRefused() {
        SequencedMap<String, Stored> tensors = stored();
        tensors.put("blocks.0.attn.qkv_proj.weight", tensors.get("blocks.0.attn.out_proj.weight"));
        tensors.put("video_patch_proj.bias", tensors.get("blocks.0.norm1.weight"));
        refused(tensors, "1 of another shape (blocks.0.attn.qkv_proj.weight is [48, 64], expected [192, 48])",
                "1 of another dtype (video_patch_proj.bias is BF16, expected F32)");
    }

    @Test
    void theDiffusersLayoutIsNotTakenForTheOriginal() {
        assertThatExceptionOfType(BadWeightsException.class)
                .isThrownBy(() -> Network.TRANSFORMER.open(Checkpoint.open(FOLDER), WeightLayout.ORIGINAL, CONFIG))
                .withMessageContaining("not expected").withMessageContaining("missing");
    }

    /** The base of the rotary frequencies is in no original config: only the stored frequencies tell. */
    @Test
    void otherRotaryFrequenciesAreRefused() {
        SequencedMap<String, Stored> tensors = stored();
        tensors.put("rope.inv_freq", new Stored(DType.F32, MemorySegment.ofArray(new float[] {1f, 0.5f, 0.25f, 0.125f}), 4));
        refused(tensors, "rope.inv_freq element 1 is 0.5, expected 0.1");
        tensors.remove("rope.inv_freq");
        open(tensors).close();
    }

    private static void refused(SequencedMap<String, Stored> tensors, String... messages) {
        assertThatExceptionOfType(BadWeightsException.class).isThrownBy(() -> open(tensors))
                .satisfies(e -> assertThat(e.getMessage()).contains(messages).doesNotContain("\n"));
    }

    private static TensorSource open(SequencedMap<String, Stored> tensors) {
        MemoryTensors.Builder builder = MemoryTensors.builder("tiny original");
        tensors.forEach((name, t) -> builder.put(name, t.dtype, t.data, t.dims));
        return Network.TRANSFORMER.open(builder.build(), WeightLayout.ORIGINAL, CONFIG);
    }

    private record Stored(DType dtype, MemorySegment data, long... dims) {
    }

    private SequencedMap<String, Stored> stored() {
        SequencedMap<String, Stored> out = new LinkedHashMap<>();
        for (String name : diffusers.names()) {
            StoredTensor t = diffusers.get(name);
            String to = originalName(name);
            if (name.contains(".attn.to_q.")) {
                out.put(to, interleaved(t, diffusers.get(name.replace("to_q", "to_k")), diffusers.get(name.replace("to_q", "to_v"))));
            } else if (name.contains(".ff.net.0.proj.")) {
                out.put(to, swapped(t));
            } else if (!name.contains(".attn.to_k.") && !name.contains(".attn.to_v.")) {
                out.put(to, new Stored(t.dtype(), t.data(), t.shape().toArray()));
            }
        }
        out.put("rope.inv_freq", new Stored(DType.F32, MemorySegment.ofArray(new float[] {1f, 0.1f, 0.01f, 0.001f}), 4));
        return out;
    }

    private static Stored interleaved(StoredTensor... qkv) {
        int heads = CONFIG.get("num_attention_heads").asInt();
        long head = qkv[0].data().byteSize() / heads;
        byte[] all = new byte[(int) (3 * heads * head)];
        long at = 0;
        for (int h = 0; h < heads; h++) {
            for (StoredTensor part : qkv) {
                MemorySegment.ofArray(all).asSlice(at, head).copyFrom(part.data().asSlice(h * head, head));
                at += head;
            }
        }
        return new Stored(qkv[0].dtype(), MemorySegment.ofArray(all), 3 * qkv[0].shape().dim(0), qkv[0].shape().dim(1));
    }

    private static Stored swapped(StoredTensor t) {
        long half = t.data().byteSize() / 2;
        byte[] all = new byte[(int) (2 * half)];
        MemorySegment.ofArray(all).asSlice(0, half).copyFrom(t.data().asSlice(half, half));
        MemorySegment.ofArray(all).asSlice(half, half).copyFrom(t.data().asSlice(0, half));
        return new Stored(t.dtype(), MemorySegment.ofArray(all), t.shape().toArray());
    }

    private static String originalName(String name) {
        Map<String, String> whole = Map.ofEntries(Map.entry("proj_in", "video_patch_proj"), Map.entry("audio_proj_in", "audio_patch_proj"),
                Map.entry("context_embedder", "condition_proj"), Map.entry("time_embedder.linear_1", "time_embedder.proj_in"),
                Map.entry("time_embedder.linear_2", "time_embedder.proj_out"), Map.entry("norm_out.norm", "final_layer.norm"),
                Map.entry("norm_out.linear", "final_layer.adaln_proj.linear"), Map.entry("proj_out", "final_layer.video_out"),
                Map.entry("audio_proj_out", "final_layer.audio_out"));
        int dot = name.lastIndexOf('.');
        if (whole.containsKey(name.substring(0, dot))) {
            return whole.get(name.substring(0, dot)) + name.substring(dot);
        }
        return name.replace("transformer_blocks.", "blocks.").replace("refiner_blocks.", "blocks.").replace("attn.to_q.", "attn.qkv_proj.")
                .replace("attn.norm_q.", "attn.q_norm.").replace("attn.norm_k.", "attn.k_norm.").replace("attn.to_out.0.", "attn.out_proj.")
                .replace("ff.net.0.proj.", "mlp.fc1.").replace("ff.net.2.", "mlp.fc2.");
    }
}

package io.kinema.weights;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** INT8 and FP8 matrices with their companions: folded into one tensor each, or refused by name. */
class QuantizedTensorsTest {
    private static final String ROTATED = "{\"format\": \"int8_tensorwise\", \"convrot\": true, \"convrot_groupsize\": 4}";

    @TempDir
    Path folder;

    @Test
    void int8WithScalesAndMarkerIsOneMatrix() {
        try (TensorSource source = open(int8(ROTATED).floats("x.bias", new float[2], 2))) {
            assertThat(source.names()).containsExactlyInAnyOrder("x.weight", "x.bias");
            Int8Matrix matrix = (Int8Matrix) source.matrix("x.weight");
            assertThat(matrix.rotation()).isEqualTo(OptionalInt.of(4));
            assertThat(source.header("x.weight").orElseThrow().encoding()).isEqualTo("INT8 rotated by 4");
            assertThat(source.find("x.weight_scale")).isEmpty();
            // Columns 1 2 3 4 times the first scale, rotated back: row sums over 2 times the signs of H4.
            assertThat(FloatConversion.toFloats(source.get("x.weight"))).startsWith(1f * 0.5f, 2f * 0.5f, 3f * 0.5f, 4f * 0.5f);
            assertThat(source.matrix("x.weight", 1, 2).rows()).isEqualTo(1);
        }
    }

    @Test
    void theMarkerMayAskForFullPrecisionAndScalesMayBeAColumn() {
        MemoryTensors.Builder b = MemoryTensors.builder("m").put("x.weight", DType.I8, bytes(1, 2, 3, 4, 5, 6, 7, 8), 2, 4)
                .floats("x.weight_scale", new float[] {0.5f, 2}, 2, 1);
        marker(b, "x", "{\"format\":\"int8_tensorwise\",\"convrot\":false,\"full_precision_matrix_mult\":true}");
        try (TensorSource source = open(b)) {
            assertThat(source.matrix("x.weight").rotation()).isEmpty();
            assertThat(FloatConversion.toFloats(source.get("x.weight"))).containsExactly(0.5f, 1, 1.5f, 2, 10, 12, 14, 16);
        }
    }

    @Test
    void float8TakesItsScaleUnderEitherName() {
        byte one = 0x38;
        for (String suffix : new String[] {".weight_scale", ".scale_weight"}) {
            MemoryTensors.Builder b = MemoryTensors.builder("m").put("x.weight", DType.F8_E4M3, bytes(one, one, one, one), 2, 2)
                    .floats("x" + suffix, new float[] {0.25f}).floats("x.input_scale", new float[] {3});
            try (TensorSource source = open(b)) {
                assertThat(source.names()).containsExactly("x.weight");
                assertThat(source.header("x.weight").orElseThrow().encoding()).isEqualTo("FP8 E4M3 scaled by tensor");
                assertThat(FloatConversion.toFloats(source.get("x.weight"))).containsExactly(0.25f, 0.25f, 0.25f, 0.25f);
            }
        }
        MemoryTensors.Builder rows = MemoryTensors.builder("m").put("x.weight", DType.F8_E4M3, bytes(one, one, one, one), 2, 2).floats("x.weight_scale", new float[] {1, 2}, 2);
        marker(rows, "x", "{\"format\":\"float8_e4m3fn\"}");
        try (TensorSource source = open(rows)) {
            assertThat(FloatConversion.toFloats(source.get("x.weight"))).containsExactly(1, 1, 2, 2);
        }
        try (TensorSource source = open(MemoryTensors.builder("m").put("x.weight", DType.F8_E4M3, bytes(one, one), 1, 2))) {
            assertThat(source.header("x.weight").orElseThrow().encoding()).isEqualTo("FP8 E4M3");
            assertThat(source.matrix("x.weight")).isInstanceOf(Float8Matrix.class);
        }
    }

    @Test
    void aPlainCheckpointIsLeftAlone() {
        try (TensorSource source = open(MemoryTensors.builder("m").floats("x.weight", new float[4], 2, 2))) {
            assertThat(source).isInstanceOf(Checkpoint.class);
        }
    }

    @Test
    void removedAddedAndDamagedCompanionsAreRefusedByName() {
        refused(MemoryTensors.builder("m").put("x.weight", DType.I8, bytes(1, 2, 3, 4), 1, 4), "x.weight is I8 and x.weight_scale");
        refused(MemoryTensors.builder("m").put("x.weight", DType.I8, bytes(1, 2, 3, 4), 1, 4).floats("x.weight_scale", new float[] {1}, 1), "x.comfy_quant");
        refused(int8(ROTATED).floats("y.weight_scale", new float[2], 2), "y.weight_scale belongs to y.weight, which is missing");
        refused(marker(MemoryTensors.builder("m").floats("z.bias", new float[2], 2), "y", ROTATED), "y.comfy_quant belongs to y.weight");
        refused(int8(ROTATED, 0, 1), "x.weight_scale element 0 is 0.0");
        refused(int8(ROTATED, 1, Float.NaN), "x.weight_scale element 1 is NaN");
        refused(int8(ROTATED, 1, Float.POSITIVE_INFINITY), "x.weight_scale element 1 is Infinity");
        refused(int8(ROTATED, 1, -1), "x.weight_scale element 1 is -1.0");
        refused(int8(ROTATED, 1, 2, 3), "expected F32[2]");
        refused(int8("{\"format\":\"nvfp4\"}"), "x.comfy_quant says {\"format\":\"nvfp4\"}, expected a format among [int8_tensorwise, float8_e4m3fn, float8_e5m2]");
        refused(int8("{\"format\":\"int8_tensorwise\",\"convrot\":true,\"convrot_groupsize\":8}"), "convrot_groupsize 8, expected a power of 4");
        refused(int8("{\"format\":\"int8_tensorwise\",\"convrot\":true,\"convrot_groupsize\":16}"), "that divides the 4 columns");
        refused(int8("{\"format\":\"int8_tensorwise\",\"convrot\":true}"), "whole convrot_groupsize");
        refused(int8("{\"format\":\"int8_tensorwise\",\"convrot\":\"yes\"}"), "convrot true or false");
        refused(int8("{\"format\":\"int8_tensorwise\",\"zero_point\":3}"), "does not know 'zero_point'");
        refused(int8("{\"format\":\"float8_e4m3fn\"}"), "is I8 and its marker says float8_e4m3fn");
        refused(int8("nonsense"), "x.comfy_quant is not JSON");
        refused(int8("[]"), "expected the bytes of a JSON object");
        refused(marker(MemoryTensors.builder("m").put("x.weight", DType.F8_E4M3, bytes(1, 2), 1, 2), "x", "{\"format\":\"float8_e4m3fn\"}"), "x.weight_scale (its scale) is missing");
        refused(MemoryTensors.builder("m").put("x.weight", DType.F8_E4M3, bytes(1, 2), 1, 2).put("scaled_fp8", DType.F8_E4M3, bytes(), 0), "x.weight is FP8 in a file of scaled FP8");
    }

    @Test
    void otherEncodingsAreRefusedByNameWithThoseUnderstood() {
        refused(int8(ROTATED).floats("q.weight_codebook", new float[16], 16), "q.weight_codebook is of the encoding W4A8 ConvRot", "understood are F32");
        refused(int8(ROTATED).floats("q.weight.absmax", new float[16], 16), "bitsandbytes");
        refused(int8(ROTATED).floats("q.weight_scale_2", new float[] {1}), "NVFP4");
        Path file = folder.resolve("layers.safetensors");
        try (MemoryTensors tensors = int8(ROTATED).build()) {
            SafetensorsWriter.write(file, tensors.names().stream().map(tensors::get).toList(),
                    Map.of("_quantization_metadata", "{\"layers\":{\"a.b\":{\"format\":\"mxfp8\"}}}"));
        }
        assertThatExceptionOfType(BadWeightsException.class).isThrownBy(() -> WeightFiles.open(file).close()).withMessageContaining("layer a.b").withMessageContaining("mxfp8");
    }

    @Test
    void useAfterCloseIsAnExceptionAndClosingTwiceIsHarmless() {
        TensorSource source = open(int8(ROTATED));
        source.close();
        source.close();
        assertThatIllegalStateException().isThrownBy(() -> source.matrix("x.weight"));
        assertThatIllegalStateException().isThrownBy(() -> source.get("x.weight"));
    }

    /** Two rows of four columns; the first is 1 2 3 4 once it is rotated back and scaled by 1/2 of the codes' own. */
    private static MemoryTensors.Builder int8(String marker, float... scales) {
        double[] row = {10, 20, 30, 40};
        RegularHadamard.rotate(row, 4);
        byte[] codes = new byte[8];
        for (int i = 0; i < 4; i++) {
            codes[i] = (byte) row[i];
        }
        float[] given = scales.length == 0 ? new float[] {0.05f, 1} : scales;
        return marker(MemoryTensors.builder("m").put("x.weight", DType.I8, MemorySegment.ofArray(codes), 2, 4).floats("x.weight_scale", given, given.length), "x", marker);
    }

    private static MemoryTensors.Builder marker(MemoryTensors.Builder b, String module, String json) {
        byte[] utf8 = json.getBytes(StandardCharsets.UTF_8);
        return b.put(module + ".comfy_quant", DType.U8, MemorySegment.ofArray(utf8), utf8.length);
    }

    private static MemorySegment bytes(int... values) {
        byte[] out = new byte[values.length];
        for (int i = 0; i < out.length; i++) {
            out[i] = (byte) values[i];
        }
        return MemorySegment.ofArray(out);
    }

    private TensorSource open(MemoryTensors.Builder tensors) {
        Path file = folder.resolve("m.safetensors");
        try (MemoryTensors built = tensors.build()) {
            SafetensorsWriter.write(file, built.names().stream().map(built::get).toList(), Map.of());
        }
        return WeightFiles.open(file);
    }

    private void refused(MemoryTensors.Builder tensors, String... messages) {
        assertThatExceptionOfType(BadWeightsException.class).isThrownBy(() -> open(tensors).close())
                .satisfies(e -> assertThat(e.getMessage()).contains(messages).contains("m.safetensors"));
    }
}

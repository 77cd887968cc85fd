package io.kinema.weights;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * {@code gguf/small.gguf} and {@code others.gguf} were written by the Python package gguf 0.19.0, and the values beside them are what its own decoders
 * make of them. Hostile files are built here.
 */
class GgufFileTest {
    static final Path SMALL = Path.of("src/test/resources/gguf/small.gguf");

    @TempDir
    Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"small", "others"})
    void everyValueIsTheReferencePackages(String written) throws IOException {
        JsonNode expected = new ObjectMapper().readTree(SMALL.resolveSibling(written + ".json").toFile());
        try (GgufFile file = GgufFile.open(SMALL.resolveSibling(written + ".gguf"))) {
            assertThat(file.names()).containsExactlyInAnyOrderElementsOf(expected.properties().stream().map(Map.Entry::getKey).toList());
            for (Map.Entry<String, JsonNode> tensor : expected.properties()) {
                String name = tensor.getKey();
                float[] values = floats(tensor.getValue().get("values").asText());
                long[] sizes = tensor.getValue().get("shape").valueStream().mapToLong(JsonNode::asLong).toArray();
                assertThat(file.shape(name)).as(name).isEqualTo(Shape.of(sizes));
                assertThat(FloatConversion.toFloats(file.get(name))).as(name).isEqualTo(values);
                if (sizes.length == 2) {
                    StoredMatrix matrix = file.matrix(name);
                    float[] rows = new float[values.length];
                    MatrixValues.decode(matrix, 0, sizes[0], rows, 0);
                    assertThat(rows).as(name).isEqualTo(values);
                    StoredMatrix last = file.matrix(name, 1, sizes[0]).rows(sizes[0] - 2, sizes[0] - 1);
                    float[] row = new float[(int) sizes[1] + 3];
                    MatrixValues.decode(last, 0, 1, row, 3);
                    assertThat(Arrays.copyOfRange(row, 3, row.length)).as(name + " last row").isEqualTo(Arrays.copyOfRange(values, (int) (values.length - sizes[1]), values.length));
                }
            }
        }
    }

    @Test
    void theHeaderSaysWhatEachTensorIsAndFieldsAreText() {
        try (GgufFile file = GgufFile.open(SMALL)) {
            assertThat(file.header("d.weight").orElseThrow().encoding()).isEqualTo("Q8_0");
            assertThat(file.header("d.weight").orElseThrow().bytes()).isEqualTo(2 * 2 * 34);
            assertThat(file.header("e.weight").orElseThrow().dtype()).isEmpty();
            assertThat(file.header("f.weight").orElseThrow().shape()).isEqualTo(Shape.of(8, 96));
            assertThat(file.header("c.bias").orElseThrow().dtype()).contains(DType.F32);
            assertThat(file.matrix("e.weight")).isInstanceOf(EncodedMatrix.class);
            assertThat(file.matrix("b.weight")).isInstanceOf(FloatMatrix.class);
            assertThat(file.metadata()).containsEntry("general.architecture", "minimax_h3").containsEntry("flag", "1").containsEntry("half", "0.5")
                    .containsEntry("large", "9223372036854775809").containsEntry("general.file_type", "7");
        }
    }

    @Test
    void theContentDecidesNotTheName() throws IOException {
        Path renamed = Files.copy(SMALL, folder.resolve("model.safetensors"));
        try (TensorSource source = WeightFiles.open(renamed)) {
            assertThat(source).isInstanceOf(GgufFile.class);
        }
    }

    @Test
    void useAfterCloseIsAnExceptionAndClosingTwiceIsHarmless() {
        GgufFile file = GgufFile.open(SMALL);
        StoredTensor tensor = file.get("d.weight");
        file.close();
        file.close();
        assertThatIllegalStateException().isThrownBy(() -> file.get("a.weight")).withMessageContaining("a.weight");
        assertThatIllegalStateException().isThrownBy(() -> FloatConversion.toFloats(tensor));
    }

    @Test
    void aTypeThatCannotBeDecodedIsListedAndRefusedByName() throws IOException {
        Path path = write(new RawGguf().tensor("x.weight", 11, new byte[110], 1, 256));
        try (GgufFile file = GgufFile.open(path)) {
            TensorHeader header = file.header("x.weight").orElseThrow();
            assertThat(header.encoding()).isEqualTo("Q3_K");
            assertThat(header.readable()).isFalse();
            assertThatExceptionOfType(BadWeightsException.class).isThrownBy(() -> file.matrix("x.weight"))
                    .withMessageContaining("x.weight").withMessageContaining("Q3_K").withMessageContaining("[F32, F16, Q4_0, Q5_0, Q8_0, Q4_K, Q5_K, Q6_K");
        }
    }

    @Test
    void brokenHeadersAreRefusedBeforeAnythingIsAllocated() {
        byte[] four = new byte[16];
        refused(new RawGguf().magic(0x20202020), "begin with GGUF");
        refused(new RawGguf().version(1), "version 1");
        refused(new RawGguf().version(Integer.reverseBytes(3)), "big-endian");
        refused(new RawGguf().counts(-1, 0), "number of tensors is 18446744073709551615");
        refused(new RawGguf().counts(1L << 40, 0), "number of tensors is 1099511627776");
        refused(new RawGguf().counts(0, 1L << 60), "number of fields");
        refused(new RawGguf().tensor("a", 0, new byte[96], 4).counts(3, 0), "tensor 1 has an empty name");
        refused(new RawGguf().field("k", 13, new byte[0]), "type 13");
        refused(new RawGguf().field("k", 8, RawGguf.longs(1L << 50)), "length of field k");
        refused(new RawGguf().field("k", 9, concat(RawGguf.ints(4), RawGguf.longs(1L << 50))), "length of list k");
        refused(new RawGguf().field("k", 9, concat(RawGguf.ints(9), RawGguf.longs(1), RawGguf.ints(9), RawGguf.longs(1), RawGguf.ints(9), RawGguf.longs(1),
                RawGguf.ints(9), RawGguf.longs(1), RawGguf.ints(9), RawGguf.longs(1))), "inside 4 lists");
        refused(new RawGguf().field("k", 4, RawGguf.ints(1)).field("k", 4, RawGguf.ints(1)), "k appears twice");
        refused(new RawGguf().field("general.alignment", 4, RawGguf.ints(0)), "general.alignment is 0");
        refused(new RawGguf().field("general.alignment", 4, RawGguf.ints(48)), "general.alignment is 48");
        refused(new RawGguf().tensor("a", 0, four, 4).tensor("a", 0, four, 4), "tensor a appears twice");
        refused(new RawGguf().tensor("a", 99, four, 4), "tensor a has type 99");
        refused(new RawGguf().tensor("a", 0, four, 1, 1, 1, 1, 4), "5 axes");
        refused(new RawGguf().tensor("a", 0, four, -4), "tensor a has sizes [-4]");
        refused(new RawGguf().tensor("a", 0, four, 0), "tensor a has sizes [0]");
        refused(new RawGguf().tensor("a", 0, four, 1L << 40, 1L << 40), "at most 2147483647 elements");
        refused(new RawGguf().tensor("a", 8, new byte[34], 2, 16), "whole blocks of 32");
        refused(new RawGguf().at(64, "a", 0, four, 4), "tensor a ends at byte 80");
        refused(new RawGguf().at(-32, "a", 0, four, 4), "tensor a ends");
        refused(new RawGguf().tensor("a", 0, four, 4).at(0, "b", 0, new byte[64], 4), "it overlaps the tensor before it");
        refused(new RawGguf().tensor("a", 0, new byte[128], 4).at(64, "b", 0, four, 4), "a hole before it");
        refused(new RawGguf().tensor("a", 0, new byte[96], 4), "the tensors end at byte");
        refused(new RawGguf().tensor("a", 0, four, 4).originalShape("b", 4), "of a tensor that is not there");
        refused(new RawGguf().tensor("a", 0, four, 4).originalShape("a", 5), "original shape is [5]");
        refused(new RawGguf().tensor("a", 0, four, 4).originalShape("a", -4), "holds -4");
        refused(new RawGguf().field("comfy.gguf.orig_shape.a", 8, RawGguf.text("4")), "not a list of 32-bit integers");
    }

    @Test
    void aFileThatEndsAnywhereIsRefusedByName() throws IOException {
        byte[] whole = Files.readAllBytes(SMALL);
        // What follows the last tensor's last byte is only padding.
        for (int length = 4; length < whole.length - 32; length += 7) {
            Path cut = Files.write(folder.resolve("cut.gguf"), Arrays.copyOf(whole, length));
            assertThatExceptionOfType(BadWeightsException.class).as("%d bytes", length).isThrownBy(() -> GgufFile.open(cut).close()).withMessageContaining("cut.gguf");
        }
    }

    private void refused(RawGguf file, String message) {
        assertThatExceptionOfType(BadWeightsException.class).isThrownBy(() -> GgufFile.open(write(file)).close()).withMessageContaining(message)
                .withMessageContaining("x.gguf");
    }

    private Path write(RawGguf file) throws IOException {
        return Files.write(folder.resolve("x.gguf"), file.bytes());
    }

    static float[] floats(String hex) {
        ByteBuffer bytes = ByteBuffer.wrap(HexFormat.of().parseHex(hex)).order(ByteOrder.LITTLE_ENDIAN);
        float[] values = new float[bytes.remaining() / 4];
        bytes.asFloatBuffer().get(values);
        return values;
    }

    private static byte[] concat(byte[]... parts) {
        ByteBuffer all = ByteBuffer.allocate(Arrays.stream(parts).mapToInt(p -> p.length).sum());
        Arrays.stream(parts).forEach(all::put);
        return all.array();
    }
}

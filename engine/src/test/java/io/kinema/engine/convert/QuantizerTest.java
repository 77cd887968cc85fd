package io.kinema.engine.convert;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.kinema.engine.BadRequestException;
import io.kinema.engine.Geometries;
import io.kinema.engine.model.Component;
import io.kinema.engine.model.ModelFolder;
import io.kinema.engine.model.NetworkFolder;
import io.kinema.engine.model.TransformerWeights;
import io.kinema.model.layout.WeightLayout;
import io.kinema.weights.BadWeightsException;
import io.kinema.weights.Checkpoint;
import io.kinema.weights.FloatConversion;
import io.kinema.weights.Int8Matrix;
import io.kinema.weights.Int8Rows;
import io.kinema.weights.MatrixValues;
import io.kinema.weights.StoredMatrix;
import io.kinema.weights.TensorSource;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class QuantizerTest {
    private static final NetworkFolder OWN = ModelFolder.open(Geometries.NANO).network(Component.TRANSFORMER);

    @TempDir
    Path folder;

    @Test
    void blocksAreCodedInRotatedGroupsAndTheRestIsAsItWas() throws IOException {
        Path file = folder.resolve("nano.safetensors");
        QuantizeReport report = Quantizer.quantize(Geometries.NANO, file, options(256, false), name -> { });
        assertThat(report.matrices()).hasSize(8 * 4).allMatch(m -> m.relativeL2() > 0.003 && m.relativeL2() < 0.01);
        assertThat(report.metadata()).containsEntry("kinema.group_rule", "the largest power of 4 up to 256 that divides the input width");
        assertThat(Files.size(file)).isLessThan(9_200_000);
        TransformerWeights weights = TransformerWeights.of(OWN, Optional.of(file));
        assertThat(weights.layout()).isEqualTo(WeightLayout.COMFYUI);
        try (TensorSource got = weights.open(); TensorSource own = OWN.open()) {
            for (String name : own.names()) {
                if (got.header(name).orElseThrow().dtype().isPresent()) {
                    assertThat(got.get(name).data().mismatch(own.get(name).data())).as(name).isEqualTo(-1);
                    continue;
                }
                StoredMatrix matrix = got.matrix(name, 0, got.shape(name).dim(0) / 2);
                assertThat(matrix).isInstanceOf(Int8Matrix.class);
                assertThat(matrix.rotation()).isEqualTo(OptionalInt.of(matrix.columns() == 192 ? 64 : 256));
                float[] values = new float[(int) (matrix.rows() * matrix.columns())];
                MatrixValues.decode(matrix, 0, matrix.rows(), values, 0);
                assertThat(ModelConverterTest.relative(FloatConversion.toFloats(own.get(name).rows(0, matrix.rows())), values)).as(name).isBetween(0.003, 0.01);
            }
        }
    }

    /** Tensor names, dtypes and the marker's bytes as the published files have them. */
    @Test
    void theFileIsOfThePublishedForm() {
        Path file = folder.resolve("nano.safetensors");
        Quantizer.quantize(OWN.folder(), file, options(256, false), name -> { });
        try (Checkpoint stored = Checkpoint.open(file)) {
            assertThat(stored.names()).hasSize(107 + 2 * 32).contains("blocks.0.attn.qkv_proj.weight", "blocks.0.attn.qkv_proj.weight_scale",
                    "blocks.0.attn.qkv_proj.comfy_quant", "token_refiner.blocks.0.attn.qkv_proj.weight", "rope.inv_freq");
            assertThat(stored.get("blocks.0.mlp.fc1.weight").dtype()).hasToString("I8");
            assertThat(stored.get("token_refiner.blocks.0.mlp.fc1.weight").dtype()).hasToString("BF16");
            byte[] marker = stored.get("blocks.0.mlp.fc2.comfy_quant").data().toArray(ValueLayout.JAVA_BYTE);
            assertThat(new String(marker, StandardCharsets.UTF_8)).isEqualTo("{\"format\":\"int8_tensorwise\",\"convrot\":true,\"convrot_groupsize\":256}");
        }
    }

    @Test
    void threadsAndTheSourcesLayoutChangeNoByte() throws IOException {
        Path original = folder.resolve("original");
        ModelConverter.convert(OWN.folder(), original, new ConversionOptions(WeightLayout.ORIGINAL, Optional.empty(), false, Optional.empty(), Optional.empty()), name -> { });
        Path one = folder.resolve("one.safetensors");
        Path three = folder.resolve("three.safetensors");
        Quantizer.quantize(OWN.folder(), one, new QuantizeOptions(64, false, Optional.empty(), Optional.empty(), Optional.empty(), 1), name -> { });
        Quantizer.quantize(original, three, new QuantizeOptions(64, false, Optional.empty(), Optional.empty(), Optional.empty(), 3), name -> { });
        try (Checkpoint left = Checkpoint.open(one); Checkpoint right = Checkpoint.open(three)) {
            assertThat(right.names()).isEqualTo(left.names());
            left.names().forEach(n -> assertThat(right.get(n).data().mismatch(left.get(n).data())).as(n).isEqualTo(-1));
        }
    }

    @Test
    void theGroupIsTheLargestPowerOfFourThatDividesTheWidth() {
        assertThat(List.of(5376, 7168, 14336)).allMatch(width -> Int8Rows.group(width, 256).getAsInt() == 256);
        assertThat(Int8Rows.group(192, 256)).hasValue(64);
        assertThat(Int8Rows.group(48, 256)).hasValue(16);
        assertThat(Int8Rows.group(14336, 16)).hasValue(16);
        assertThat(Int8Rows.group(30, 256)).isEmpty();
        assertThatExceptionOfType(BadRequestException.class).isThrownBy(() -> options(128, false)).withMessageContaining("groupSize: got 128, expected a power of 4");
    }

    @Test
    void codedSourcesAndFilesThatAreThereAreRefused() throws IOException {
        Path file = folder.resolve("nano.safetensors");
        Quantizer.quantize(OWN.folder(), file, options(256, false), name -> { });
        byte[] before = Files.readAllBytes(file);
        assertThatExceptionOfType(BadWeightsException.class).isThrownBy(() -> Quantizer.quantize(OWN.folder(), file, options(4, false), name -> { }))
                .withMessageContaining("is there already");
        assertThatExceptionOfType(BadWeightsException.class).isThrownBy(() -> Quantizer.quantize(file, folder.resolve("again.safetensors"), options(256, false), name -> { }))
                .withMessageContaining("transformer_blocks.0.attn.to_q.weight is INT8 rotated by 64 already");
        assertThat(Files.readAllBytes(file)).isEqualTo(before);
        assertThat(folder.resolve("again.safetensors")).doesNotExist();
        Quantizer.quantize(OWN.folder(), file, options(4, true), name -> { });
        assertThat(Files.readAllBytes(file)).isNotEqualTo(before);
    }

    @Test
    void theSourceIsKeptWhateverLinkLeadsToIt() throws IOException {
        Path file = OWN.folder().resolve("diffusion_pytorch_model.safetensors");
        Path there = Files.createDirectory(folder.resolve("there"));
        Path source = Files.copy(file, there.resolve("nano.safetensors"));
        Files.createSymbolicLink(folder.resolve("link"), there);
        Path model = Files.createDirectory(folder.resolve("model"));
        try (Stream<Path> parts = Files.list(Geometries.NANO)) {
            for (Path part : parts.toList()) {
                Files.createSymbolicLink(model.resolve(part.getFileName()), part);
            }
        }
        Path transformer = Files.createDirectory(folder.resolve("transformer"));
        Files.copy(OWN.folder().resolve("config.json"), transformer.resolve("config.json"));
        Path weights = Files.copy(file, transformer.resolve(file.getFileName()));
        Files.delete(model.resolve("transformer"));
        Files.createSymbolicLink(model.resolve("transformer"), transformer);
        refused(source, folder.resolve("link/nano.safetensors"));
        refused(folder.resolve("link/nano.safetensors"), source);
        refused(model, weights);
        assertThat(source).hasSameBinaryContentAs(file);
        assertThat(weights).hasSameBinaryContentAs(file);
    }

    @Test
    void aPipeIsNoFileToReplace() throws Exception {
        Path pipe = folder.resolve("pipe");
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
        assertThatExceptionOfType(BadWeightsException.class).isThrownBy(() -> Quantizer.quantize(OWN.folder(), pipe, options(256, true), name -> { }))
                .withMessageContaining("is a pipe or a device");
        assertThat(Files.readAttributes(pipe, BasicFileAttributes.class).isOther()).isTrue();
    }

    private static void refused(Path from, Path to) {
        assertThatExceptionOfType(BadWeightsException.class).as("%s to %s", from, to).isThrownBy(() -> Quantizer.quantize(from, to, options(256, true), name -> { }))
                .withMessageContaining("apart from what is read");
    }

    private static QuantizeOptions options(int group, boolean overwrite) {
        return new QuantizeOptions(group, overwrite, Optional.empty(), Optional.empty(), Optional.empty(), 2);
    }
}

package io.kinema.engine.convert;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.kinema.engine.Geometries;
import io.kinema.engine.convert.ConversionReport.Written;
import io.kinema.engine.inspect.ModelInspector;
import io.kinema.engine.inspect.ModelReport;
import io.kinema.engine.model.Component;
import io.kinema.engine.model.ModelFolder;
import io.kinema.engine.model.NetworkFolder;
import io.kinema.engine.model.OriginalCopy;
import io.kinema.engine.model.TransformerFile;
import io.kinema.media.file.HiddenFolder;
import io.kinema.model.dit.DitConfig;
import io.kinema.model.layout.WeightLayout;
import io.kinema.weights.BadWeightsException;
import io.kinema.weights.Checkpoint;
import io.kinema.weights.CheckpointIdentity;
import io.kinema.weights.DType;
import io.kinema.weights.FloatConversion;
import io.kinema.weights.MemoryTensors;
import io.kinema.weights.SafetensorsWriter;
import io.kinema.weights.StoredTensor;
import io.kinema.weights.TensorSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ModelConverterTest {
    private static final Path TINY_DIT = Geometries.TINY.resolve("transformer");

    @TempDir
    Path folder;

    @Test
    void theBundledModelGoesToTheOriginalLayoutAndBackByteForByte() throws IOException {
        Path original = folder.resolve("original");
        Path back = folder.resolve("back");
        convert(Geometries.NANO, original, WeightLayout.ORIGINAL, Optional.empty());
        fits(original, 2 * 4);
        assertThat(Files.mismatch(original.resolve("FL2VA/video_vae/source/model.safetensors"), original.resolve("Ref2VA/video_vae/source/model.safetensors"))).isEqualTo(-1);
        assertThat(Files.readAllLines(original.resolve(ConversionReport.CHECKSUMS))).hasSize(42);
        ConversionReport report = convert(original, back, WeightLayout.DIFFUSERS, Optional.empty());
        fits(back, 5);
        for (String weights : List.of("transformer/diffusion_pytorch_model.safetensors", "text_encoder/model.safetensors", "vae/diffusion_pytorch_model.safetensors",
                "audio_vae/diffusion_pytorch_model.safetensors", "tokenizer/tokenizer.json")) {
            assertThat(Files.mismatch(Geometries.NANO.resolve(weights), back.resolve(weights))).as(weights).isEqualTo(-1);
        }
        ModelFolder expected = ModelFolder.open(Geometries.NANO);
        for (ModelFolder got : List.of(ModelFolder.open(original), ModelFolder.open(back))) {
            assertThat(got.geometry()).isEqualTo(expected.geometry());
        }
        checksums(back, report);
    }

    /** The other writer's map was made by hand. */
    @Test
    void aPartitionIsWhatTheOtherWriterMakesOfIt() throws IOException {
        Path expected = OriginalCopy.fl2va(folder.resolve("expected"));
        Path got = folder.resolve("got");
        convert(Geometries.TINY, got, WeightLayout.ORIGINAL, Optional.empty());
        for (String network : List.of("transformer/model.safetensors", "video_vae/source/model.safetensors", "audio_vae/model.safetensors")) {
            try (Checkpoint left = Checkpoint.open(expected.resolve(network)); Checkpoint right = Checkpoint.open(got.resolve("FL2VA").resolve(network))) {
                assertThat(right.names()).containsExactlyInAnyOrderElementsOf(left.names());
                left.names().forEach(n -> same(left.get(n), right.get(n)));
            }
        }
        assertThat(ModelFolder.open(got).tasks()).isEqualTo(ModelFolder.open(Geometries.TINY).tasks());
    }

    @Test
    void whatAKilledConversionLeftGoesWithTheNext() throws IOException {
        Path places = Files.createDirectory(folder.resolve("places"));
        Path left;
        try (HiddenFolder own = HiddenFolder.in(places)) {
            // The same, of a process whose number is above the most that Linux gives.
            String[] name = own.path().getFileName().toString().split("-");
            left = Files.createDirectory(places.resolve(String.join("-", name[0], name[1], name[2], "8388608", "dead", name[5])));
            Files.createFile(left.resolve("lock"));
            Files.writeString(left.resolve("half"), "a model");
            convert(TINY_DIT, places.resolve("first"), WeightLayout.DIFFUSERS, Optional.empty());
            assertThat(left).doesNotExist();
            assertThat(own.path()).as("another's, at work").exists();
        }
    }

    @Test
    void widerAndBackIsTheSameAndFp32IslandsStay() {
        Path wide = folder.resolve("wide");
        Path back = folder.resolve("back");
        convert(TINY_DIT, wide, WeightLayout.DIFFUSERS, Optional.of(DType.F32));
        convert(wide, back, WeightLayout.DIFFUSERS, Optional.of(DType.BF16));
        try (Checkpoint own = Checkpoint.open(TINY_DIT); Checkpoint f32 = Checkpoint.open(wide); Checkpoint again = Checkpoint.open(back)) {
            assertThat(f32.names()).allMatch(n -> f32.get(n).dtype() == DType.F32);
            own.names().forEach(n -> same(own.get(n), again.get(n)));
            assertThat(again.get("proj_in.weight").dtype()).isEqualTo(DType.F32);
        }
    }

    @Test
    void codedWeightsAreDecodedToAStatedDtype() throws IOException {
        NetworkFolder own = ModelFolder.open(Geometries.NANO).network(Component.TRANSFORMER);
        Path gguf = TransformerFile.of(own.folder(), DitConfig.read(own.config()).ropeFrequencies()).gguf(folder.resolve("x.gguf"), false, TransformerFile::matrixOfABlock);
        assertThatExceptionOfType(BadWeightsException.class).isThrownBy(() -> convert(gguf, folder.resolve("kept"), WeightLayout.DIFFUSERS, Optional.empty()))
                .withMessageContaining("is coded (Q8_0), expected plain floats to keep; say --dtype");
        assertThat(folder.resolve("kept")).doesNotExist();
        Path decoded = folder.resolve("decoded");
        convert(gguf, decoded, WeightLayout.ORIGINAL, Optional.of(DType.F16));
        try (TensorSource got = NetworkFolder.read(decoded).open(); TensorSource expected = own.open()) {
            StoredTensor q = got.get("transformer_blocks.5.attn.to_q.weight");
            assertThat(q.dtype()).isEqualTo(DType.F16);
            assertThat(relative(FloatConversion.toFloats(expected.get(q.name())), FloatConversion.toFloats(q))).isBetween(1e-4, 0.01);
        }
    }

    /** The second would be rounded down to what FP16 holds. */
    @ParameterizedTest
    @CsvSource({"BF16, 70000, 70144.0", "F32, 65519.5, 65519.5"})
    void aValueThatFp16CannotHoldIsRefusedByNameAndNothingIsLeft(DType stored, float value, String said) throws IOException {
        Path source = Files.createDirectory(folder.resolve("source"));
        Files.copy(TINY_DIT.resolve("config.json"), source.resolve("config.json"));
        String name = "transformer_blocks.1.ff.net.2.weight";
        try (Checkpoint tiny = Checkpoint.open(TINY_DIT)) {
            List<StoredTensor> tensors = new ArrayList<>();
            float[] values = FloatConversion.toFloats(tiny.get(name));
            values[77] = value;
            try (MemoryTensors large = MemoryTensors.builder("large").rounded(name, stored, values, tiny.shape(name).toArray()).build()) {
                tiny.names().forEach(n -> tensors.add(n.equals(name) ? large.get(n) : tiny.get(n)));
                SafetensorsWriter.write(source.resolve("x.safetensors"), tensors, Map.of());
            }
        }
        assertThatExceptionOfType(BadWeightsException.class).isThrownBy(() -> convert(source, folder.resolve("half"), WeightLayout.DIFFUSERS, Optional.of(DType.F16)))
                .withMessageContaining("tensor " + name + " element 77 is " + said + ", expected a finite value within +-65504.0 for F16");
        assertThat(list(folder)).containsExactly("source");
    }

    @Test
    void nothingIsReplacedUnlessTold() throws IOException {
        Path there = Files.createDirectory(folder.resolve("there"));
        convert(TINY_DIT, there, WeightLayout.DIFFUSERS, Optional.empty());
        Files.writeString(there.resolve("mine.txt"), "kept");
        assertThatExceptionOfType(BadWeightsException.class).isThrownBy(() -> convert(TINY_DIT, there, WeightLayout.ORIGINAL, Optional.empty()))
                .withMessageContaining("is there already; give another --output, or --overwrite");
        assertThat(there.resolve("mine.txt")).hasContent("kept");
        ModelConverter.convert(TINY_DIT, there, new ConversionOptions(WeightLayout.ORIGINAL, Optional.empty(), true, Optional.empty(), Optional.empty()), name -> { });
        assertThat(list(there)).containsExactly("SHA256SUMS", "config.json", "model.safetensors");
        assertThat(list(folder)).containsExactly("there");
        for (Path within : List.of(there, there.resolve("below"), folder)) {
            assertThatExceptionOfType(BadWeightsException.class).isThrownBy(() -> ModelConverter.convert(there, within,
                    new ConversionOptions(WeightLayout.DIFFUSERS, Optional.empty(), true, Optional.empty(), Optional.empty()), name -> { })).withMessageContaining("apart from what is read");
        }
    }

    /** Overwriting replaces what was converted, not whatever lies in a folder that was named by mistake. */
    @Test
    void aFolderOfOtherThingsIsNotReplaced() throws IOException {
        Path there = Files.createDirectory(folder.resolve("there"));
        Path mine = Files.writeString(there.resolve("mine.txt"), "kept");
        ConversionOptions overwriting = new ConversionOptions(WeightLayout.DIFFUSERS, Optional.empty(), true, Optional.empty(), Optional.empty());
        assertThatExceptionOfType(BadWeightsException.class).isThrownBy(() -> ModelConverter.convert(TINY_DIT, there, overwriting, name -> { }))
                .withMessageContaining("holds other things than a model");
        assertThat(mine).hasContent("kept");
        Files.delete(mine);
        assertThat(ModelConverter.convert(TINY_DIT, there, overwriting, name -> { }).files()).isNotEmpty();
    }

    private static ConversionReport convert(Path from, Path to, WeightLayout layout, Optional<DType> dtype) {
        return ModelConverter.convert(from, to, new ConversionOptions(layout, dtype, false, Optional.empty(), Optional.empty()), name -> { });
    }

    private static void fits(Path model, int networks) {
        ModelReport report = ModelInspector.inspect(model);
        assertThat(report.components().stream().filter(c -> c.fit().isPresent())).hasSize(networks).allMatch(c -> c.fit().orElseThrow().problem().isEmpty());
    }

    private static void checksums(Path root, ConversionReport report) throws IOException {
        List<String> lines = Files.readAllLines(root.resolve(ConversionReport.CHECKSUMS));
        assertThat(lines).hasSize(report.files().size());
        for (Written file : report.files()) {
            assertThat(CheckpointIdentity.sha256(root.resolve(file.name()))).isEqualTo(file.sha256());
            assertThat(lines).contains(file.sha256() + "  " + file.name());
        }
    }

    private static void same(StoredTensor expected, StoredTensor got) {
        assertThat(got.dtype()).as(expected.name()).isEqualTo(expected.dtype());
        assertThat(got.shape()).as(expected.name()).isEqualTo(expected.shape());
        assertThat(got.data().mismatch(expected.data())).as(expected.name()).isEqualTo(-1);
    }

    static double relative(float[] expected, float[] got) {
        double error = 0;
        double norm = 0;
        for (int i = 0; i < got.length; i++) {
            error += (got[i] - expected[i]) * (double) (got[i] - expected[i]);
            norm += expected[i] * (double) expected[i];
        }
        return Math.sqrt(error / norm);
    }

    private static List<String> list(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(f -> f.getFileName().toString()).sorted().toList();
        }
    }
}

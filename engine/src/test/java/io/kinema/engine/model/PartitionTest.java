package io.kinema.engine.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.kinema.engine.BadRequestException;
import io.kinema.engine.GenerateRequest;
import io.kinema.engine.Geometries;
import io.kinema.engine.Reference;
import io.kinema.engine.Task;
import io.kinema.engine.golden.GoldenCase;
import io.kinema.engine.inspect.ComponentReport;
import io.kinema.engine.inspect.ComponentReport.Fit;
import io.kinema.engine.inspect.ModelInspector;
import io.kinema.engine.inspect.ModelReport;
import io.kinema.engine.plan.PictureSizes;
import io.kinema.engine.plan.RequestResolver;
import io.kinema.model.layout.WeightLayout;
import io.kinema.weights.BadWeightsException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a partition can be asked for, and what is no partition. */
class PartitionTest {
    @TempDir
    private Path temp;
    private Path fl2va;

    @BeforeEach
    void write() throws IOException {
        fl2va = OriginalCopy.fl2va(temp.resolve("x"));
    }

    /** A request for a task of the other partition is refused, and the right one named. */
    @Test
    void aTaskOfTheOtherPartitionIsRefusedByName() throws IOException {
        Path picture = GoldenCase.subset().resolve("pipeline/ref2va_image/reference.png");
        refuses(fl2va, GenerateRequest.prompt("a").reference(new Reference.Image(picture)).build(),
                "task: got ref2va, expected t2va or fl2va: this model has no transformer for ref2va; give --model a folder with the Ref2VA partition");
        Path ref2va = OriginalCopy.ref2va(temp.resolve("y"));
        refuses(ref2va, GenerateRequest.prompt("a").build(), "got t2va, expected ref2va", "FL2VA partition");
        refuses(ref2va, GenerateRequest.prompt("a").image(picture).build(), "got fl2va, expected ref2va", "FL2VA partition");
    }

    /** The same for a download of the diffusers layout that left one transformer out. */
    @Test
    void aDownloadWithoutOneTransformerHasTheOthersTasks() throws IOException {
        Path folder = temp.resolve("half");
        for (String name : new String[] {"vae", "audio_vae", "transformer", "tokenizer", "text_encoder"}) {
            Files.createDirectories(folder.resolve(name));
            if (!name.equals("tokenizer")) {
                Files.copy(Geometries.TINY.resolve(name).resolve("config.json"), folder.resolve(name).resolve("config.json"));
            }
        }
        Files.copy(Geometries.TINY.resolve("model_index.json"), folder.resolve("modular_model_index.json"));
        assertThat(ModelFolder.open(folder).tasks()).containsExactly(Task.T2VA, Task.FL2VA);
        Files.move(folder.resolve("transformer"), folder.resolve("transformer_ref"));
        assertThat(ModelFolder.open(folder).tasks()).containsExactly(Task.REF2VA);
    }

    /** The repository's own index lies above partitions of which only one was fetched. */
    @Test
    void anIndexWithoutItsComponentsYieldsToThePartitions() throws IOException {
        Files.copy(Geometries.TINY.resolve("model_index.json"), temp.resolve("model_index.json"));
        ModelFolder model = ModelFolder.open(temp);
        assertThat(model.layout()).isEqualTo(WeightLayout.ORIGINAL);
        assertThat(model.folder(Component.VIDEO_VAE)).isEqualTo(fl2va.resolve("video_vae"));
    }

    @Test
    void shiftsComeFromTheBlock() throws IOException {
        replace("model_index.json", "\"video\": 12.0", "\"video\": 7.5");
        replace("model_index.json", "\"audio\": 3.0", "\"audio\": 2");
        ModelGeometry geometry = ModelFolder.open(fl2va).geometry();
        assertThat(geometry.flowShift()).isEqualTo(7.5);
        assertThat(geometry.audioFlowShift()).isEqualTo(2);
    }

    @Test
    void partitionsThatDoNotBelongTogetherAreRefused() throws IOException {
        Path second = OriginalCopy.fl2va(temp.resolve("y"));
        refuses(temp, "x and y both hold a transformer for [t2va, fl2va]; give one of the two folders");
        Path index = second.resolve("model_index.json");
        Files.copy(Geometries.ROOT.resolve("testdata/released/Ref2VA/model_index.json"), index, java.nio.file.StandardCopyOption.REPLACE_EXISTING);
        Files.writeString(index, Files.readString(index).replace("\"video\": 12.0", "\"video\": 11.0"));
        refuses(temp, "x and y state different sigma_shift_scales");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "\"schema_version\": 1 | \"schema_version\": 2 | _minimax_h3.schema_version is 2, expected 1",
        "\"partition\": \"fl2va\" | \"partition\": \"all\" | _minimax_h3.partition is \"all\", expected fl2va or ref2va",
        "\"tasks\": [ | \"tasks\": [\"x2va\", | _minimax_h3.tasks is [\"x2va\",\"t2va\",\"fl2va\"], expected t2va, fl2va or ref2va",
        "\"tasks\" | \"task\" | _minimax_h3.tasks is missing",
        "\"video\": 12.0 | \"video\": -1 | _minimax_h3.sigma_shift_scales.video is -1, expected a positive number",
        "\"audio\" | \"sound\" | _minimax_h3.sigma_shift_scales.audio is missing",
        "\"partition\" | \"base_schedule\": [1, 0], \"partition\" | _minimax_h3.base_schedule is [1,0], expected none",
        "\"audio_vae\" | \"audio\" | lists no audio_vae",
        "\"transformer\": | \"dit\": | lists no transformer"})
    void aBlockOfAnotherFormIsRefused(String from, String to, String message) throws IOException {
        replace("model_index.json", from, to);
        refuses(fl2va, message);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "video_vae/config.json | \"source\" | \"../../y\" | source_path is '../../y', expected a path inside video_vae",
        "video_vae/config.json | MiniMaxH3VideoVAE | SomeVAE | names no network of H3",
        "transformer/config.json | ffn_hidden_size | ffn | ffn_hidden_size is missing",
        "audio_vae/metadata.json | bigvgan | hifigan | decoder_type is \"hifigan\", expected bigvgan"})
    void aConfigOfAnotherKindIsRefused(String file, String from, String to, String message) throws IOException {
        replace(file, from, to);
        refuses(fl2va, message);
    }

    /** Names alone do not say how QKV rows are ordered: other programs stack them under the same names. */
    @Test
    void aFileWithOriginalNamesAndNoConfigIsRefused() throws IOException {
        Path alone = Files.createDirectories(temp.resolve("alone")).resolve("h3.safetensors");
        Files.copy(fl2va.resolve("transformer/model.safetensors"), alone);
        NetworkFolder own = ModelFolder.open(fl2va).network(Component.TRANSFORMER);
        assertThatExceptionOfType(BadWeightsException.class).isThrownBy(() -> TransformerWeights.of(own, Optional.of(alone))).withMessageContaining("h3.safetensors")
                .withMessageContaining("the order of its QKV rows is unknown");
        assertThatExceptionOfType(BadWeightsException.class).isThrownBy(() -> TransformerWeights.of(own, Optional.of(fl2va.resolve("audio_vae")))).withMessageContaining("expected a transformer");
    }

    @Test
    void inspectionShowsPartitionAndFit() throws IOException {
        ModelReport report = ModelInspector.inspect(fl2va);
        assertThat(report.partitions()).singleElement().satisfies(p -> assertThat(p.partition()).isEqualTo("fl2va"));
        assertThat(report.components()).extracting(ComponentReport::name)
                .containsExactly("text_encoder", "tokenizer", "video_vae", "audio_vae", "transformer", "processor");
        assertThat(named(report, "video_vae").fit()).contains(new Fit(WeightLayout.ORIGINAL, Optional.empty()));
        assertThat(named(report, "video_vae").tensors()).hasSize(104);
        OriginalCopy.ref2va(temp.resolve("y"));
        assertThat(ModelInspector.inspect(temp).components()).extracting(ComponentReport::name).contains("x/transformer", "y/transformer");
        replace("transformer/config.json", "\"num_layers\":3", "\"num_layers\":2");
        assertThat(named(ModelInspector.inspect(fl2va), "transformer").fit().orElseThrow().problem().orElseThrow())
                .contains("10 not expected (blocks.2.").doesNotContain("missing");
    }

    private static ComponentReport named(ModelReport report, String name) {
        return report.components().stream().filter(c -> c.name().equals(name)).findFirst().orElseThrow();
    }

    private void replace(String file, String from, String to) throws IOException {
        Path path = fl2va.resolve(file);
        String text = Files.readString(path);
        assertThat(text).contains(from);
        Files.writeString(path, text.replace(from, to));
    }

    private static void refuses(Path folder, GenerateRequest request, String... messages) {
        RequestResolver resolver = new RequestResolver(ModelFolder.open(folder).geometry(), f -> new PictureSizes.Size(64, 64));
        assertThatExceptionOfType(BadRequestException.class).isThrownBy(() -> resolver.resolve(request))
                .satisfies(e -> assertThat(e.getMessage()).contains(messages).doesNotContain("\n"));
    }

    private static void refuses(Path folder, String message) {
        assertThatExceptionOfType(BadWeightsException.class).isThrownBy(() -> ModelFolder.open(folder))
                .withMessageContaining(message).satisfies(e -> assertThat(e.getMessage()).doesNotContain("\n"));
    }
}

package io.kinema.engine.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.kinema.engine.BadRequestException;
import io.kinema.engine.GenerateRequest;
import io.kinema.engine.Geometries;
import io.kinema.engine.Reference;
import io.kinema.engine.model.ModelGeometry;
import io.kinema.media.BadMediaException;
import io.kinema.media.container.MediaHeader;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ReferenceLengthsTest {
    private static final ModelGeometry RELEASED = Geometries.released();
    private static final ModelGeometry NANO = Geometries.nano();

    /** The file's name says how long it is and whether it has a soundtrack: {@code 3.5}, {@code 3.5-silent}. */
    private static MediaHeader header(Path file) {
        String name = file.toString();
        double seconds = Double.parseDouble(name.replace("-silent", "").replace("-wide", ""));
        boolean silent = name.endsWith("-silent");
        return new MediaHeader(file, "mov", 1000, seconds,
                Optional.of(new MediaHeader.Video("h264", "yuv420p", name.endsWith("-wide") ? 2000 : 640, 360, 24, Math.round(24 * seconds), seconds)),
                silent ? Optional.empty() : Optional.of(new MediaHeader.Sound("aac", 44_100, 2, seconds)), new TreeMap<>());
    }

    private static ResolvedRequest resolve(ModelGeometry model, String... references) {
        GenerateRequest.Builder request = GenerateRequest.prompt("A cat");
        List.of(references).forEach(r -> request.reference(Reference.parse(r)));
        return new RequestResolver(model, file -> new PictureSizes.Size(640, 480), ReferenceLengthsTest::header, AdapterFiles.NONE).resolve(request.build());
    }

    private static String refusal(ModelGeometry model, String... references) {
        String[] message = new String[1];
        assertThatExceptionOfType(BadRequestException.class).isThrownBy(() -> resolve(model, references)).satisfies(e -> message[0] = e.getMessage());
        return message[0];
    }

    @ParameterizedTest
    @CsvSource({"video:2", "video:15", "video:15.005", "video:1.995", "video+sound:3"})
    void takesTwoToFifteenSeconds(String reference) {
        assertThat(resolve(RELEASED, reference).references()).hasSize(1);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "video:1.9  | references: got 1.90 s in video:1.9, expected 2 to 15 s; cut it",
        "video:15.1 | references: got 15.10 s in video:15.1, expected 2 to 15 s; cut it",
    })
    void refusesOtherLengthsByName(String reference, String message) {
        assertThat(refusal(RELEASED, reference)).isEqualTo(message);
    }

    @Test
    void aModelOfShortClipsTakesShortReferences() {
        assertThat(resolve(NANO, "video:0.6", "audio:0.2").references()).hasSize(2);
        assertThat(refusal(NANO, "video:0.5")).isEqualTo("references: got 12 frames at 24 a second in video:0.5, expected at least 13 (0.54 s); choose a longer one");
        assertThat(refusal(NANO, "video:15.1")).contains("expected at most 15 s");
    }

    @Test
    void allVideosAndAllSoundsTogetherLastFifteenSeconds() {
        assertThat(resolve(RELEASED, "video:7", "video:8", "audio:5", "audio:5", "audio:5").references()).hasSize(5);
        assertThat(refusal(RELEASED, "video:7", "video:8.1")).isEqualTo("references: got videos of 15.10 s together, expected at most 15 s; cut or leave out some");
        assertThat(refusal(RELEASED, "image:a", "audio:7", "audio:8.1")).startsWith("references: got sounds of 15.10 s together");
    }

    @Test
    void aSoundtrackMustBeThereWhenAskedFor() {
        assertThat(resolve(RELEASED, "video:3-silent").references()).hasSize(1);
        assertThat(refusal(RELEASED, "video+sound:3-silent")).isEqualTo("references: got video+sound:3-silent, which has no soundtrack, "
                + "expected a video with sound; give it as video:3-silent, or another file");
        assertThatExceptionOfType(BadMediaException.class).isThrownBy(() -> resolve(RELEASED, "image:a", "audio:3-silent")).withMessageContaining("has no sound");
    }

    @Test
    void aVideoOfAnExtremeShapeIsRefused() {
        assertThat(refusal(RELEASED, "video:3-wide")).contains("2000x360").contains("1:4 to 4:1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"cat.png", "film:cat.png", "image:", ":cat.png", "Image:cat.png", "", "image"})
    void aReferenceNamesItsKindAndFile(String text) {
        assertThatExceptionOfType(BadRequestException.class).isThrownBy(() -> Reference.parse(text))
                .withMessageStartingWith("references: got '" + text + "', expected image:FILE, video:FILE");
    }

    @Test
    void everythingAfterTheFirstColonIsTheFile() {
        assertThat(Reference.parse("video+sound:a:b 中文 'x'.mp4")).isEqualTo(new Reference.Video(Path.of("a:b 中文 'x'.mp4"), true));
        for (String text : List.of("image:a.png", "video:b.mp4", "video+sound:b.mp4", "audio:c.wav", "latents:d", "latents+sound:d")) {
            Reference reference = Reference.parse(text);
            assertThat(reference.kind() + ":" + reference.file()).isEqualTo(text);
        }
    }
}

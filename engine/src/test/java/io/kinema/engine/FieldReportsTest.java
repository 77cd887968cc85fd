package io.kinema.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kinema.engine.media.Photos;
import io.kinema.engine.model.ModelGeometry;
import io.kinema.engine.pipeline.ConditionMedia;
import io.kinema.engine.pipeline.MediaLoader;
import io.kinema.engine.plan.RequestResolver;
import io.kinema.engine.plan.ResolvedRequest;
import io.kinema.engine.preprocess.ReferenceVideos;
import io.kinema.media.image.RgbImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How other engines failed the people who brought requests and media; each test is named after the report it closes. */
class FieldReportsTest {
    private static final RequestResolver RELEASED = new RequestResolver(Geometries.released(), FileHeaders::size);

    @TempDir
    Path folder;

    /** Phone photos reached the model lying on their side. */
    @Test
    void report01EightOrientationsOfOnePhotoGiveOneCanvasAndOneVaeInput() throws IOException {
        ModelGeometry nano = Geometries.nano();
        Set<String> canvases = new TreeSet<>();
        Set<String> small = new TreeSet<>();
        Set<String> vaeInputs = new TreeSet<>();
        for (int orientation = 1; orientation <= 8; orientation++) {
            Path file = Files.write(folder.resolve("photo-" + orientation + ".jpg"), Photos.jpeg(orientation));
            GenerateRequest request = GenerateRequest.prompt("a photo").image(file).build();
            ResolvedRequest released = RELEASED.resolve(request);
            canvases.add(released.width() + "x" + released.height());
            ResolvedRequest resolved = new RequestResolver(nano, FileHeaders::size).resolve(request);
            small.add(resolved.width() + "x" + resolved.height());
            ConditionMedia.Keyframes media = (ConditionMedia.Keyframes) new MediaLoader(nano).load(resolved);
            vaeInputs.add(hash(media.keyframes().getFirst().picture()));
        }
        assertThat(canvases).containsExactly("1152x768");
        assertThat(small).hasSize(1);
        assertThat(vaeInputs).as("hashes of the pixels that the VAE encodes").hasSize(1);
    }

    /** A canvas rounded to 16 pixels bends pictures towards the edges. */
    @ParameterizedTest
    @CsvSource({"1360, 784, width, 1344 and 1376", "1344, 784, height, 768 and 800", "1352, 768, width, 1344 and 1376", "1328, 784, width, 1312 and 1344"})
    void report02ACanvasOffThe32GridIsRefusedWithItsNeighbours(int width, int height, String field, String nearest) {
        assertThatThrownBy(() -> RELEASED.resolve(GenerateRequest.prompt("x").size(width, height).build()))
                .isInstanceOf(BadRequestException.class).hasMessageStartingWith(field + ": got ").hasMessageContaining(nearest);
    }

    @ParameterizedTest
    @ValueSource(strings = {"1360:784", "85:49", "1:1.7", "3.99:1", "1000:777"})
    void report02ACanvasFromARatioIsOnThe32Grid(String ratio) {
        ResolvedRequest resolved = RELEASED.resolve(GenerateRequest.prompt("x").aspectRatio(AspectRatio.parse(ratio)).build());
        assertThat(resolved.width() % 32).isZero();
        assertThat(resolved.height() % 32).isZero();
    }

    /** Generic code assumed 4k + 1 frames. */
    @ParameterizedTest
    @CsvSource({"120, 124", "96, 107", "124, 124", "345, 345"})
    void report03FramesSnapTo17nPlus5AndSaySo(int asked, int frames) {
        ResolvedRequest resolved = RELEASED.resolve(GenerateRequest.prompt("x").frames(asked).build());
        assertThat(resolved.frames()).isEqualTo(frames);
        assertThat(resolved.notes().stream().anyMatch(note -> note.contains(asked + " frames become " + frames))).isEqualTo(asked != frames);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, Integer.MAX_VALUE, Integer.MIN_VALUE})
    void report03AbsurdFrameCountsAreRefused(int frames) {
        assertThatThrownBy(() -> RELEASED.resolve(GenerateRequest.prompt("x").frames(frames).build()))
                .isInstanceOf(BadRequestException.class).hasMessageStartingWith("frames: got " + frames);
    }

    /** A reference video was conditioned at the wrong speed; MediaTableTest does the same with files. */
    @ParameterizedTest
    @ValueSource(doubles = {24000 / 1001.0, 24, 25, 30000 / 1001.0, 50, 60000 / 1001.0, 120})
    void report05FramesAt24AreTheDurationTimes24(double fps) {
        for (double seconds : new double[] {2, 2.5, 7.3, 15}) {
            int frames = (int) Math.round(seconds * fps);
            int[] shown = ReferenceVideos.resampleIndices(frames, fps, 10_000, 24);
            assertThat(Math.abs(shown.length - Math.round(frames / fps * 24))).isLessThanOrEqualTo(1);
            for (int slot = 0; slot < shown.length; slot++) {
                assertThat(Math.abs(shown[slot] / fps - slot / 24.0)).as("slot %d", slot).isLessThan(1 / Math.min(fps, 24));
            }
        }
    }

    private static String hash(RgbImage image) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(image.rgb()));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}

package io.kinema.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.within;

import io.kinema.engine.layout.Anchor;
import io.kinema.engine.layout.PackedLayout;
import io.kinema.engine.layout.Target;
import io.kinema.engine.model.ModelGeometry;
import io.kinema.engine.pipeline.ConditionMedia;
import io.kinema.engine.pipeline.MediaLoader;
import io.kinema.engine.plan.ResolvedRequest;
import io.kinema.engine.preprocess.ReferenceVideos;
import io.kinema.engine.record.SoundReport;
import io.kinema.engine.record.StepTime;
import io.kinema.engine.schedule.SigmaGrid;
import io.kinema.media.image.Orientation;
import io.kinema.media.image.RgbImage;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How requests fail people in other engines, each as a test of the right behaviour. */
class FieldReportsTest {
    private static final ModelGeometry RELEASED = Geometries.released();
    private static final ModelGeometry NANO = Geometries.nano();

    @TempDir
    private Path folder;

    private static ResolvedRequest resolve(ModelGeometry model, Consumer<GenerateRequest.Builder> fill) {
        GenerateRequest.Builder request = GenerateRequest.prompt("A red circle");
        fill.accept(request);
        return FileHeaders.resolver(model).resolve(request.build());
    }

    private static String refusal(Consumer<GenerateRequest.Builder> fill) {
        String[] message = new String[1];
        assertThatExceptionOfType(BadRequestException.class).isThrownBy(() -> resolve(RELEASED, fill)).satisfies(e -> message[0] = e.getMessage());
        return message[0];
    }

    /** Field report 1: phone photos with an EXIF orientation reached the model lying on their side. */
    @Test
    void report1EightOrientationsOfOnePhotoGiveOneCanvasAndOneInput() throws IOException {
        RgbImage photo = photo();
        Set<String> canvases = new HashSet<>();
        Set<Integer> inputs = new HashSet<>();
        for (Orientation orientation : Orientation.values()) {
            RgbImage stored = Arrays.stream(Orientation.values()).map(o -> o.apply(photo))
                    .filter(turned -> Arrays.equals(orientation.apply(turned).rgb(), photo.rgb())).findFirst().orElseThrow();
            Path file = Files.write(folder.resolve(orientation + ".jpg"), jpeg(stored, orientation.ordinal() + 1));
            ResolvedRequest request = resolve(NANO, b -> b.image(file));
            canvases.add(request.width() + "x" + request.height());
            ConditionMedia.Keyframes media = (ConditionMedia.Keyframes) new MediaLoader(NANO).load(request);
            inputs.add(Arrays.hashCode(media.keyframes().getFirst().picture().rgb()));
        }
        assertThat(Orientation.values()).hasSize(8);
        assertThat(canvases).containsExactly("384x256");
        assertThat(inputs).hasSize(1);
    }

    /** Field report 2: a canvas rounded to 16 pixels bends pictures towards the edges. */
    @Test
    void report2ACanvasOffTheGridOf32IsRefused() {
        assertThat(refusal(b -> b.size(1360, 784))).isEqualTo("width: got 1360, expected a multiple of 32; the nearest are 1344 and 1376");
        assertThat(refusal(b -> b.size(1344, 784))).isEqualTo("height: got 784, expected a multiple of 32; the nearest are 768 and 800");
    }

    /** Field report 3: generic code assumed 4k+1 frames. */
    @ParameterizedTest
    @CsvSource({"120, 124", "96, 107", "107, 107", "108, 124"})
    void report3FramesAreSnappedTo17nPlus5AndSaidSo(int asked, int frames) {
        ResolvedRequest request = resolve(RELEASED, b -> b.frames(asked));
        assertThat(request.frames()).isEqualTo(frames);
        assertThat(request.notes().stream().anyMatch(note -> note.contains(asked + " frames become " + frames))).isEqualTo(asked != frames);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, -17, Integer.MAX_VALUE, Integer.MIN_VALUE})
    void report3AbsurdFrameCountsAreRefused(int frames) {
        assertThat(refusal(b -> b.frames(frames))).startsWith("frames: got " + frames);
    }

    /** Field report 4: the last keyframe was ignored, and index -1 treated as 0. */
    @Test
    void report4EveryKeyframeStandsAtItsOwnTime() {
        int[] text = {1, 1, 1};
        Target target = new Target(7, 16, 16, 37);
        double end = 3 + (1 + 4 + 4 + 4 + 4 + 1 + 4) * 5 / 3.0 - 5 / 3.0;
        assertThat(times(PackedLayout.ofKeyframes(text, target, NANO.patch(), List.of(Anchor.FIRST)))).containsExactly(3.0);
        assertThat(times(PackedLayout.ofKeyframes(text, target, NANO.patch(), List.of(Anchor.LAST)))).singleElement()
                .satisfies(t -> assertThat(t).isCloseTo(end, within(1e-9)));
        assertThat(times(PackedLayout.ofKeyframes(text, target, NANO.patch(), List.of(Anchor.FIRST, Anchor.LAST)))).hasSize(2);
    }

    /** Field report 5: a reference video was conditioned at the wrong speed because its rate was misread. */
    @ParameterizedTest
    @ValueSource(doubles = {24_000 / 1001.0, 24, 25, 30_000 / 1001.0, 30, 50, 60_000 / 1001.0, 60, 120, 12, 17.3})
    void report5AReferenceVideoKeepsItsSpeed(double fps) {
        for (int frames : new int[] {24, 50, 77, 300, 1000}) {
            int[] indices = ReferenceVideos.resampleIndices(frames, fps, Integer.MAX_VALUE, 24);
            assertThat(indices.length).isCloseTo((int) Math.round(frames / fps * 24), within(1));
            for (int slot = 0; slot < indices.length; slot++) {
                assertThat(indices[slot] / fps).as("second shown in slot %d", slot).isCloseTo(slot / 24.0, within(1 / fps + 0.5 / 24 + 1e-9));
            }
        }
    }

    /** Field reports 6 and 8: sound stepped down the video's schedule; "steps" meant grid points here and evaluations there. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void report6And8EveryEvaluationIsCountedOnceAndHasTwoSigmas(int steps) {
        try (H3Engine engine = H3Engine.open(EngineOptions.builder().model(Geometries.NANO).threads(2).build())) {
            Clip clip = engine.generate(GenerateRequest.prompt("A red circle").frames(22).steps(steps).build());
            List<StepTime> made = clip.record().steps();
            float[] video = SigmaGrid.ofEvaluations(steps, 12).sigmas();
            float[] audio = SigmaGrid.ofEvaluations(steps, 3).sigmas();
            assertThat(made).hasSize(steps);
            assertThat(clip.record().schedule().sigmas()).hasSize(steps + 1).last().isEqualTo(0f);
            assertThat(clip.record().schedule().audioSigmas()).hasSize(steps + 1);
            for (int i = 0; i < steps; i++) {
                assertThat(made.get(i).sigma()).isEqualTo(video[i]);
                assertThat(made.get(i).audioSigma()).isEqualTo(audio[i]);
            }
            if (steps > 1) {
                assertThat(video[1]).isNotEqualTo(audio[1]);
            }
        }
    }

    /** Field report 7: blown, popping, clipped sound went unnoticed. */
    @Test
    void report7ClippedSoundIsMeasuredAndWarnedOf() {
        float[] blown = new float[32_000];
        Arrays.fill(blown, 0, 70, 1f);
        SoundReport report = SoundReport.of(blown, new float[32_000], 32_000);
        assertThat(report.fullScale()).isEqualTo(70);
        assertThat(report.fullScaleShare()).isGreaterThan(0.001);
        assertThat(report.clipped()).isTrue();
        assertThat(SoundReport.of(new float[32_000], new float[32_000], 32_000).clipped()).isFalse();
    }

    /** Rotary times of the condition rows. */
    private static Set<Double> times(PackedLayout layout) {
        Set<Double> times = new HashSet<>();
        double[] positions = layout.positions();
        int[] video = layout.videoIndices();
        for (int i = 0; i < layout.conditionVideoRows(); i++) {
            times.add(positions[3 * video[i]]);
        }
        return times;
    }

    /** A grey picture of uniform 8x8 blocks, which JPEG keeps alike however it is turned. */
    private static RgbImage photo() {
        RgbImage photo = RgbImage.black(96, 64);
        for (int y = 0; y < 64; y++) {
            for (int x = 0; x < 96; x++) {
                byte grey = (byte) (40 + 13 * (x / 8) + 5 * (y / 8));
                Arrays.fill(photo.rgb(), 3 * (y * 96 + x), 3 * (y * 96 + x) + 3, grey);
            }
        }
        return photo;
    }

    /** A baseline JPEG with an EXIF block that states an orientation. */
    private static byte[] jpeg(RgbImage picture, int orientation) throws IOException {
        BufferedImage image = new BufferedImage(picture.width(), picture.height(), BufferedImage.TYPE_BYTE_GRAY);
        for (int i = 0; i < picture.width() * picture.height(); i++) {
            image.getRaster().setSample(i % picture.width(), i / picture.width(), 0, picture.rgb()[3 * i] & 0xff);
        }
        ByteArrayOutputStream plain = new ByteArrayOutputStream();
        ImageIO.write(image, "jpg", plain);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(plain.toByteArray(), 0, 2);
        out.writeBytes(new byte[] {(byte) 0xff, (byte) 0xe1, 0, 34, 'E', 'x', 'i', 'f', 0, 0, 'I', 'I', 42, 0, 8, 0, 0, 0,
            1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, (byte) orientation, 0, 0, 0, 0, 0, 0, 0});
        out.write(plain.toByteArray(), 2, plain.size() - 2);
        return out.toByteArray();
    }
}

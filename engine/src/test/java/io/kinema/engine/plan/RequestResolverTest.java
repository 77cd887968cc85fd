package io.kinema.engine.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.kinema.engine.AspectRatio;
import io.kinema.engine.BadRequestException;
import io.kinema.engine.Geometries;
import io.kinema.engine.GenerateRequest;
import io.kinema.engine.Reference;
import io.kinema.engine.Task;
import io.kinema.engine.layout.Anchor;
import io.kinema.engine.model.ModelGeometry;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RequestResolverTest {
    private static final ModelGeometry RELEASED = Geometries.released();
    private static final ModelGeometry NANO = Geometries.nano();
    private static final Path PICTURE = Path.of("picture.png");

    private static ResolvedRequest resolve(ModelGeometry model, Consumer<GenerateRequest.Builder> fill) {
        GenerateRequest.Builder builder = GenerateRequest.prompt("A cat");
        fill.accept(builder);
        return new RequestResolver(model, file -> new PictureSizes.Size(640, 480)).resolve(builder.build());
    }

    private static String refusal(ModelGeometry model, Consumer<GenerateRequest.Builder> fill) {
        String[] message = new String[1];
        assertThatExceptionOfType(BadRequestException.class).isThrownBy(() -> resolve(model, fill))
                .satisfies(e -> message[0] = e.getMessage());
        assertThat(message[0]).doesNotContain("\n").contains("got").contains(": ");
        return message[0];
    }

    @ParameterizedTest
    @CsvSource({"21:9, 1536, 672", "16:9, 1344, 768", "3:2, 1152, 768", "4:3, 1024, 768", "1:1, 768, 768", "3:4, 768, 1024",
        "2:3, 768, 1152", "9:16, 768, 1344", "4:1, 2016, 512", "1:4, 512, 2016", "1920:1080, 1344, 768"})
    void aRatioGivesTheReleasedCanvas(String ratio, int width, int height) {
        ResolvedRequest r = resolve(RELEASED, b -> b.aspectRatio(AspectRatio.parse(ratio)));
        assertThat(r.width()).isEqualTo(width);
        assertThat(r.height()).isEqualTo(height);
    }

    @Test
    void withoutASizeTextGetsTheModelsOwnCanvasAndSaysSo() {
        assertThat(resolve(RELEASED, b -> { }).notes()).contains("canvas 1344x768, the model's own for 16:9");
        assertThat(resolve(NANO, b -> { }).notes()).contains("canvas 256x256, the model's own for 1:1", "39 frames by default",
                "8 model evaluations by default", "seed 0 by default");
    }

    @Test
    void aKeyframeGivesItsShape() {
        ResolvedRequest first = resolve(RELEASED, b -> b.image(PICTURE));
        assertThat(first.width() + "x" + first.height()).isEqualTo("1024x768");
        assertThat(first.task()).isEqualTo(Task.FL2VA);
        assertThat(first.keyframes()).containsExactly(new Keyframe(Anchor.FIRST, PICTURE));
        ResolvedRequest last = resolve(RELEASED, b -> b.lastImage(PICTURE));
        assertThat(last.keyframes()).containsExactly(new Keyframe(Anchor.LAST, PICTURE));
    }

    @Test
    void bothKeyframesKeepTheirOrder() {
        Path end = Path.of("end.png");
        assertThat(resolve(RELEASED, b -> b.lastImage(end).image(PICTURE)).keyframes())
                .containsExactly(new Keyframe(Anchor.FIRST, PICTURE), new Keyframe(Anchor.LAST, end));
    }

    @ParameterizedTest
    @CsvSource({"1360, 784, width, 1344 and 1376", "1376, 784, height, 768 and 800", "1000, 768, width, 992 and 1024", "33, 64, width, 32 and 64"})
    void offTheGridNamesTheNearestSizes(int width, int height, String field, String nearest) {
        assertThat(refusal(RELEASED, b -> b.size(width, height))).startsWith(field + ":").endsWith(nearest);
    }

    @ParameterizedTest
    @CsvSource({"0, 256", "-32, 256", "256, -2147483648", "2147483616, 256", "256, 0"})
    void absurdSizesAreRefused(int width, int height) {
        assertThat(refusal(RELEASED, b -> b.size(width, height))).contains("multiple of 32");
    }

    @Test
    void aSideAloneIsRefused() {
        assertThat(refusal(RELEASED, b -> b.width(256))).startsWith("width: got 256 alone");
        assertThat(refusal(RELEASED, b -> b.height(256))).startsWith("height: got 256 alone");
    }

    @Test
    void aSizeAndARatioTogetherAreRefused() {
        assertThat(refusal(RELEASED, b -> b.size(256, 256).aspectRatio(new AspectRatio(1, 1)))).startsWith("aspectRatio:");
    }

    @Test
    void aCanvasAboveTheAreaNamesOneThatFits() {
        assertThat(refusal(RELEASED, b -> b.size(1920, 1088))).contains("at most 1032192 pixels").contains("1344x768");
        assertThat(refusal(NANO, b -> b.size(768, 768))).contains("at most 114688 pixels").contains("256x256");
    }

    @Test
    void aCanvasOfTheRatioRuleIsTakenAsAnExplicitSizeToo() {
        ResolvedRequest inferred = resolve(RELEASED, b -> b.aspectRatio(new AspectRatio(1.9, 1)));
        assertThat((long) inferred.width() * inferred.height()).isGreaterThan(RELEASED.canvasMaxPixels());
        ResolvedRequest explicit = resolve(RELEASED, b -> b.size(inferred.width(), inferred.height()));
        assertThat(explicit.width()).isEqualTo(inferred.width());
    }

    @ParameterizedTest
    @ValueSource(strings = {"5:1", "1:5", "100:1"})
    void extremeRatiosAreRefused(String ratio) {
        assertThat(refusal(RELEASED, b -> b.aspectRatio(AspectRatio.parse(ratio)))).contains("from 1:4 to 4:1");
    }

    @Test
    void extremeSizesAreRefused() {
        assertThat(refusal(RELEASED, b -> b.size(320, 32))).contains("from 1:4 to 4:1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "16", "16:9:1", "a:b", "0:1", "-1:2", "NaN:1", "1:Infinity", "16:"})
    void malformedRatiosAreRefused(String ratio) {
        assertThatExceptionOfType(BadRequestException.class).isThrownBy(() -> AspectRatio.parse(ratio))
                .withMessageStartingWith("aspectRatio: got ");
    }

    @ParameterizedTest
    @CsvSource({"96, 107", "107, 107", "108, 124", "120, 124", "124, 124", "243, 243", "345, 345"})
    void framesSnapUpAndSaySo(int asked, int frames) {
        ResolvedRequest r = resolve(RELEASED, b -> b.frames(asked));
        assertThat(r.frames()).isEqualTo(frames);
        assertThat(r.notes().stream().anyMatch(n -> n.startsWith(asked + " frames become " + frames))).isEqualTo(asked != frames);
    }

    @ParameterizedTest
    @CsvSource({"22, 7, 37", "39, 12, 65", "107, 32, 178", "124, 37, 207", "192, 57, 320", "209, 62, 348", "243, 72, 405", "345, 102, 575"})
    void latentCountsFollowTheFrames(int frames, int latents, int audio) {
        ResolvedRequest r = resolve(NANO, b -> b.frames(frames));
        assertThat(r.latentFrames()).isEqualTo(latents);
        assertThat(r.audioLatents()).isEqualTo(audio);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, -2147483648, 2147483647, 346, 362, 39, 89})
    void framesOutsideTheReleasedModelsRangeAreRefused(int frames) {
        assertThat(refusal(RELEASED, b -> b.frames(frames))).startsWith("frames: got " + frames).contains("17n+5 frames from 107 to 345");
    }

    @ParameterizedTest
    @CsvSource({"1, 22", "5, 22", "22, 22", "23, 39", "39, 39", "345, 345"})
    void aSmallModelMakesShortClips(int asked, int frames) {
        assertThat(resolve(NANO, b -> b.frames(asked)).frames()).isEqualTo(frames);
    }

    @Test
    void strictRefusesInsteadOfSnapping() {
        assertThat(refusal(RELEASED, b -> b.frames(120).strict(true))).endsWith("the nearest are 107 and 124");
        assertThat(refusal(NANO, b -> b.frames(10).strict(true))).endsWith("the nearest are 22");
        assertThat(resolve(RELEASED, b -> b.frames(124).strict(true)).frames()).isEqualTo(124);
    }

    @ParameterizedTest
    @CsvSource({"4, 107", "5, 124", "5.1667, 124", "14, 345"})
    void secondsBecomeFrames(double seconds, int frames) {
        assertThat(resolve(RELEASED, b -> b.seconds(seconds)).frames()).isEqualTo(frames);
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, -1, 15.5, 1e300, Double.NaN, Double.POSITIVE_INFINITY, 14.5})
    void absurdSecondsAreRefused(double seconds) {
        assertThat(refusal(RELEASED, b -> b.seconds(seconds))).startsWith("seconds: got ");
    }

    @Test
    void framesAndSecondsTogetherAreRefused() {
        assertThat(refusal(RELEASED, b -> b.seconds(5).frames(124))).startsWith("seconds:");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "\n\t "})
    void anEmptyPromptIsRefused(String prompt) {
        assertThatExceptionOfType(BadRequestException.class)
                .isThrownBy(() -> new RequestResolver(NANO, f -> new PictureSizes.Size(1, 1)).resolve(GenerateRequest.prompt(prompt).build()))
                .withMessageStartingWith("prompt: got an empty text");
    }

    @Test
    void aPromptWithoutEndIsRefused() {
        assertThatExceptionOfType(BadRequestException.class)
                .isThrownBy(() -> new RequestResolver(NANO, f -> new PictureSizes.Size(1, 1))
                        .resolve(GenerateRequest.prompt("a".repeat(20_001)).build()))
                .withMessageStartingWith("prompt: got 20001 characters");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, 1001, Integer.MAX_VALUE, Integer.MIN_VALUE})
    void stepsAreBounded(int steps) {
        assertThat(refusal(NANO, b -> b.steps(steps))).startsWith("steps: got " + steps);
    }

    @Test
    void oneStepIsOneEvaluation() {
        assertThat(resolve(NANO, b -> b.steps(1)).steps()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, 11, Integer.MAX_VALUE})
    void outputsAreBounded(int outputs) {
        assertThat(refusal(NANO, b -> b.outputs(outputs))).isEqualTo("outputs: got " + outputs + ", expected 1 to 10");
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, Long.MIN_VALUE, Long.MAX_VALUE})
    void seedsAreBounded(long seed) {
        assertThat(refusal(NANO, b -> b.seed(seed))).startsWith("seed: got " + seed);
    }

    @Test
    void aWideSeedSaysWhatCounts() {
        assertThat(resolve(NANO, b -> b.seed((1L << 32) + 7)).notes()).anyMatch(n -> n.contains("counts as 7"));
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, -3, Double.NaN, Double.POSITIVE_INFINITY, 1e9, 1e-30, 0.0099, Double.MIN_VALUE})
    void shiftsAreBounded(double shift) {
        assertThat(refusal(NANO, b -> b.flowShift(shift))).startsWith("flowShift: got ");
        assertThat(refusal(NANO, b -> b.audioFlowShift(shift))).startsWith("audioFlowShift: got ");
    }

    @Test
    void shiftsDefaultToTheModels() {
        ResolvedRequest r = resolve(NANO, b -> { });
        assertThat(r.flowShift()).isEqualTo(12);
        assertThat(r.audioFlowShift()).isEqualTo(3);
    }

    @Test
    void tasksMustFitTheirMedia() {
        Reference cat = new Reference.Image(PICTURE);
        assertThat(refusal(NANO, b -> b.task(Task.T2VA).image(PICTURE))).startsWith("task: got t2va");
        assertThat(refusal(NANO, b -> b.task(Task.FL2VA))).contains("needs a first or last image");
        assertThat(refusal(NANO, b -> b.task(Task.REF2VA))).contains("needs a reference");
        assertThat(refusal(NANO, b -> b.reference(cat).image(PICTURE))).startsWith("references: got 1 together with a keyframe");
        assertThat(resolve(NANO, b -> b.reference(cat)).task()).isEqualTo(Task.REF2VA);
    }

    @ParameterizedTest
    @CsvSource({"1, 1", "15, 400", "400, 15"})
    void picturesOfAFewPixelsAreRefused(int width, int height) {
        for (GenerateRequest request : List.of(GenerateRequest.prompt("A cat").image(PICTURE).build(),
                GenerateRequest.prompt("A cat").lastImage(PICTURE).build(),
                GenerateRequest.prompt("A cat").reference(new Reference.Image(PICTURE)).build())) {
            assertThatExceptionOfType(BadRequestException.class)
                    .isThrownBy(() -> new RequestResolver(NANO, file -> new PictureSizes.Size(width, height)).resolve(request))
                    .withMessageContaining("got " + width + "x" + height + " pixels in 'picture.png'");
        }
    }

    @Test
    void referencePicturesKeepTheirShapeRule() {
        assertThatExceptionOfType(BadRequestException.class)
                .isThrownBy(() -> new RequestResolver(NANO, file -> new PictureSizes.Size(500, 100))
                        .resolve(GenerateRequest.prompt("A cat").reference(new Reference.Image(PICTURE)).build()))
                .withMessageContaining("500x100").withMessageContaining("1:4 to 4:1");
    }

    @Test
    void referencesAreCounted() {
        Reference sound = new Reference.Audio(Path.of("a.wav"));
        Reference video = new Reference.Video(Path.of("v.mp4"), false);
        Reference image = new Reference.Image(PICTURE);
        assertThat(refusal(NANO, b -> b.reference(sound))).contains("sounds alone");
        assertThat(refusal(NANO, b -> repeat(b, image, 10))).contains("got 10 pictures, expected at most 9");
        assertThat(refusal(NANO, b -> repeat(b, video, 4))).contains("got 4 videos, expected at most 3");
        assertThat(refusal(NANO, b -> repeat(repeat(b, image, 1), sound, 4))).contains("got 4 sounds, expected at most 3");
        assertThat(refusal(NANO, b -> repeat(repeat(repeat(b, image, 9), video, 2), sound, 2))).contains("got 13 references in all");
        assertThat(resolve(NANO, b -> repeat(repeat(repeat(b, image, 9), video, 2), sound, 1)).references()).hasSize(12);
    }

    private static GenerateRequest.Builder repeat(GenerateRequest.Builder builder, Reference reference, int times) {
        for (int i = 0; i < times; i++) {
            builder.reference(reference);
        }
        return builder;
    }
}

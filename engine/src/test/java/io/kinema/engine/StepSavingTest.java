package io.kinema.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.kinema.compute.MatrixLayout;
import io.kinema.compute.Precision;
import io.kinema.media.image.PngWriter;
import io.kinema.media.image.RgbImage;
import io.kinema.model.load.WeightResidency;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A request that is stopped and taken up again, by another engine, ends in the bits of one that never stopped. */
class StepSavingTest {
    private static final int STEPS = 5;

    @TempDir
    private static Path shared;
    @TempDir
    private Path temp;

    private static Path model;
    private static Path picture;

    @BeforeAll
    static void prepare() throws IOException {
        model = TinyModel.in(shared.resolve("tiny"));
        picture = shared.resolve("picture.png");
        byte[] rgb = new byte[64 * 32 * 3];
        for (int i = 0; i < rgb.length; i++) {
            rgb[i] = (byte) (i * 7);
        }
        PngWriter.write(new RgbImage(64, 32, rgb), picture);
    }

    private static H3Engine open() {
        return H3Engine.open(EngineOptions.builder().model(model).build());
    }

    private static GenerateRequest request(String task) {
        GenerateRequest.Builder request = GenerateRequest.prompt("A small robot walks.").size(64, 32).frames(22).steps(STEPS).seed(7);
        switch (task) {
            case "t2va" -> { }
            case "fl2va" -> request.image(picture).lastImage(picture);
            case "ref2va" -> request.reference(new Reference.Image(picture));
            case "outputs" -> request.outputs(3);
            default -> throw new IllegalArgumentException(task);
        }
        return request.build();
    }

    /** Remembers what is saved and restored, and stops the request at a step. */
    private static final class Watcher implements StepSaving.Listener {
        private final Cancellation cancellation = new Cancellation();
        private final List<String> told = new ArrayList<>();
        private final String stopAt;

        Watcher(String stopAt) {
            this.stopAt = stopAt;
        }

        @Override
        public void restored(int output, int step, int steps) {
            told.add("restored " + output + "/" + step);
        }

        @Override
        public void saved(int output, int step, int steps) {
            assertThat(steps).isEqualTo(STEPS);
            told.add("saved " + output + "/" + step);
            if (stopAt.equals(output + "/" + step)) {
                cancellation.cancel();
            }
        }
    }

    private List<Clip> uninterrupted(String task) {
        List<Clip> clips = new ArrayList<>();
        try (H3Engine engine = open()) {
            engine.generateEach(request(task), ProgressListener.NONE, new Cancellation(), clips::add);
        }
        return clips;
    }

    /** Runs until the watcher stops it. @return the clips that were finished before */
    private List<Clip> run(String task, Path file, int every, int firstOutput, Watcher watcher, boolean stopped) {
        List<Clip> clips = new ArrayList<>();
        try (H3Engine engine = open()) {
            Runnable work = () -> engine.generateEach(request(task), ProgressListener.NONE, watcher.cancellation,
                    new StepSaving(file, every, firstOutput, watcher), clips::add);
            if (stopped) {
                assertThatExceptionOfType(CancelledException.class).isThrownBy(work::run);
            } else {
                work.run();
            }
        }
        return clips;
    }

    private void same(Clip got, Clip expected) throws IOException {
        assertThat(Arrays.equals(got.latents().video(), expected.latents().video())).as("video latents").isTrue();
        assertThat(Arrays.equals(got.latents().audio(), expected.latents().audio())).as("audio latents").isTrue();
        expected.writeMp4(temp.resolve("expected.mp4"));
        got.writeMp4(temp.resolve("got.mp4"));
        assertThat(temp.resolve("got.mp4")).hasSameBinaryContentAs(temp.resolve("expected.mp4"));
        assertThat(got.record().steps()).hasSameSizeAs(expected.record().steps());
        assertThat(got.record().steps()).allSatisfy(step -> assertThat(step.usefulFlops()).as("work of this attempt")
                .isEqualTo(step.restored() ? 0 : expected.record().steps().get(step.index()).usefulFlops()));
    }

    @ParameterizedTest
    @CsvSource({"t2va, 1", "t2va, 2", "t2va, 5", "fl2va, 3", "ref2va, 2"})
    void goesOnToTheSameBits(String task, int stop) throws IOException {
        Path file = temp.resolve("steps.safetensors");
        assertThat(run(task, file, 1, 0, new Watcher("0/" + stop), true)).isEmpty();
        Watcher second = new Watcher("");
        Clip got = run(task, file, 1, 0, second, false).getFirst();
        assertThat(second.told).startsWith("restored 0/" + stop).hasSize(1 + STEPS - stop);
        same(got, uninterrupted(task).getFirst());
    }

    @Test
    void laterOutputsGoOnToo() throws IOException {
        Path file = temp.resolve("steps.safetensors");
        List<Clip> before = run("outputs", file, 2, 0, new Watcher("1/4"), true);
        assertThat(before).hasSize(1);
        Watcher second = new Watcher("");
        List<Clip> after = run("outputs", file, 2, 1, second, false);
        assertThat(second.told).containsExactly("restored 1/4", "saved 1/5", "saved 2/2", "saved 2/4", "saved 2/5");
        List<Clip> whole = uninterrupted("outputs");
        same(before.getFirst(), whole.get(0));
        same(after.get(0), whole.get(1));
        same(after.get(1), whole.get(2));
    }

    @Test
    void anotherRequestsStateIsLeftAside() throws IOException {
        Path file = temp.resolve("steps.safetensors");
        run("fl2va", file, 1, 0, new Watcher("0/2"), true);
        Watcher second = new Watcher("");
        Clip got = run("t2va", file, 1, 0, second, false).getFirst();
        assertThat(second.told.getFirst()).isEqualTo("saved 0/1");
        same(got, uninterrupted("t2va").getFirst());
    }

    /** Whatever changes a bit of a step makes other steps. */
    @Test
    void anotherWayOfComputingStartsAnew() {
        Path file = temp.resolve("steps.safetensors");
        EngineOptions.Builder fp16 = EngineOptions.builder().threads(2).precision(Precision.FP16_FP32RES);
        List<EngineOptions> ways = List.of(EngineOptions.builder().threads(2).build(), fp16.build(), fp16.fp16WeightLayout(MatrixLayout.COLUMN).build(),
                fp16.ranks(RankOptions.DEFAULTS.withTensorParallel(2)).build());
        for (EngineOptions way : ways) {
            assertThat(toldByOne(way, file)).as("%s", way).doesNotContain("restored 0/1").contains("saved 0/1");
        }
        assertThat(toldByOne(fp16.threads(1).weightOffload(WeightResidency.LAYER).build(), file)).as("the same bits").startsWith("restored 0/1");
    }

    private List<String> toldByOne(EngineOptions way, Path file) {
        Watcher watcher = new Watcher("0/1");
        try (H3Engine engine = H3Engine.open(way)) {
            StepSaving saving = new StepSaving(file, 1, 0, watcher);
            Runnable work = () -> engine.generateEach(request("t2va"), ProgressListener.NONE, watcher.cancellation, saving, _ -> watcher.cancellation.cancel());
            try {
                work.run();
            } catch (CancelledException stopped) {
                return watcher.told;
            }
            return watcher.told;
        }
    }

    @Test
    void otherContentsUnderTheSameNameAreNoticed() throws IOException {
        Path file = temp.resolve("steps.safetensors");
        Path kept = temp.resolve("kept.png");
        run("fl2va", file, 1, 0, new Watcher("0/2"), true);
        Files.copy(picture, kept);
        try {
            PngWriter.write(new RgbImage(64, 32, new byte[64 * 32 * 3]), picture);
            Watcher second = new Watcher("0/1");
            run("fl2va", file, 1, 0, second, true);
            assertThat(second.told).containsExactly("saved 0/1");
        } finally {
            Files.move(kept, picture, StandardCopyOption.REPLACE_EXISTING);
        }
    }

    @Test
    void aDamagedFileIsLeftAside() throws IOException {
        Path file = temp.resolve("steps.safetensors");
        run("t2va", file, 1, 0, new Watcher("0/3"), true);
        byte[] whole = Files.readAllBytes(file);
        for (int length : new int[] {0, 7, 100, whole.length - 1}) {
            Files.write(file, Arrays.copyOf(whole, length));
            Watcher second = new Watcher("0/1");
            run("t2va", file, 1, 0, second, true);
            assertThat(second.told).as("%d of %d bytes", length, whole.length).containsExactly("saved 0/1");
        }
    }
}

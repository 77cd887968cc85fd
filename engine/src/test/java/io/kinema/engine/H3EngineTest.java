package io.kinema.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.engine.record.RunRecord;
import io.kinema.engine.record.StageTime;
import io.kinema.engine.record.StepRecord;
import io.kinema.weights.SafetensorsFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class H3EngineTest {
    @TempDir
    private static Path shared;
    @TempDir
    private Path temp;

    private static Path model;
    private static H3Engine engine;

    @BeforeAll
    static void open() throws IOException {
        model = TinyModel.in(shared.resolve("tiny"));
        engine = H3Engine.open(options());
    }

    @AfterAll
    static void close() {
        engine.close();
    }

    private static EngineOptions options() {
        return EngineOptions.builder().model(model).build();
    }

    private static GenerateRequest.Builder request() {
        return GenerateRequest.prompt("A small robot walks.").size(64, 32).frames(22).steps(2).seed(7);
    }

    @Test
    void makesAClipOfTheSizeAskedFor() {
        Clip clip = engine.generate(request().build());
        assertThat(clip.width()).isEqualTo(64);
        assertThat(clip.height()).isEqualTo(32);
        assertThat(clip.frameCount()).isEqualTo(22);
        assertThat(clip.frame(21)).hasSize(64 * 32 * 3);
        assertThat(clip.sampleRate()).isEqualTo(32_000);
        assertThat(clip.left()).hasSize(37 * 800).hasSameSizeAs(clip.right());
        assertThat(clip.latents().videoShape()).containsExactly(1, 8, 7, 2, 4);
        assertThat(clip.latents().audioShape()).containsExactly(2, 8, 37);
    }

    @Test
    void theSameSeedGivesTheSameClipAndAnotherSeedAnother() throws IOException {
        Clip first = engine.generate(request().build());
        Clip again = engine.generate(request().build());
        Clip other = engine.generate(request().seed(8).build());
        assertThat(again.latents().video()).isEqualTo(first.latents().video());
        assertThat(again.frame(5)).isEqualTo(first.frame(5));
        assertThat(again.left()).isEqualTo(first.left());
        assertThat(other.frame(5)).isNotEqualTo(first.frame(5));
        assertThat(other.left()).isNotEqualTo(first.left());
        first.writeMp4(temp.resolve("a.mp4"));
        again.writeMp4(temp.resolve("b.mp4"));
        assertThat(temp.resolve("b.mp4")).hasSameBinaryContentAs(temp.resolve("a.mp4"));
    }

    @Test
    void outputsAreTheClipsOfTheFollowingSeeds() {
        List<Clip> clips = new ArrayList<>();
        engine.generateEach(request().outputs(2).build(), ProgressListener.NONE, new Cancellation(), clips::add);
        assertThat(clips).hasSize(2);
        assertThat(clips.get(1).record().output()).isEqualTo(new RunRecord.Output(1, 8));
        assertThat(clips.get(1).frame(0)).isEqualTo(engine.generate(request().seed(8).build()).frame(0));
        assertThatExceptionOfType(BadRequestException.class).isThrownBy(() -> engine.generate(request().outputs(2).build()))
                .withMessageContaining("generateEach");
    }

    @Test
    void stagesAndStepsAreToldInOrder() {
        List<String> told = new ArrayList<>();
        engine.generate(request().build(), event -> {
            switch (event) {
                case Progress.StageStarted started -> told.add("+" + started.stage());
                case Progress.StageFinished finished -> told.add("-" + finished.stage());
                case Progress.StepFinished step -> told.add(step.step() + "/" + step.steps());
                case Progress.OutputStarted _, Progress.Message _ -> { }
            }
        });
        assertThat(told).containsExactly("+LOADING", "-LOADING", "+TEXT_ENCODING", "-TEXT_ENCODING", "+DENOISING", "1/2", "2/2",
                "-DENOISING", "+VIDEO_DECODING", "-VIDEO_DECODING", "+AUDIO_DECODING", "-AUDIO_DECODING");
    }

    @ParameterizedTest
    @EnumSource(value = Stage.class, names = {"CONDITION_ENCODING", "CHECKING_PREPARED_WEIGHTS", "REUSING_PREPARED_WEIGHTS", "PREPARING_WEIGHTS"},
            mode = EnumSource.Mode.EXCLUDE)
    void aRequestIsCancelledInEveryStageAndTheNextOneRuns(Stage stage) {
        Cancellation cancellation = new Cancellation();
        ProgressListener puller = event -> {
            if (event instanceof Progress.StageStarted started && started.stage() == stage) {
                cancellation.cancel();
            }
        };
        assertThatExceptionOfType(CancelledException.class).isThrownBy(() -> engine.generate(request().build(), puller, cancellation))
                .withMessageStartingWith("cancelled while ");
        assertThat(engine.generate(request().build()).frameCount()).isEqualTo(22);
    }

    /** A pool that is shut down interrupts its threads: that is no fault of any file. */
    @ParameterizedTest
    @EnumSource(value = Stage.class, names = {"CONDITION_ENCODING", "CHECKING_PREPARED_WEIGHTS", "REUSING_PREPARED_WEIGHTS", "PREPARING_WEIGHTS"},
            mode = EnumSource.Mode.EXCLUDE)
    void anInterruptCancelsInEveryStageAndStays(Stage stage) {
        ProgressListener interrupter = event -> {
            if (event instanceof Progress.StageStarted started && started.stage() == stage) {
                Thread.currentThread().interrupt();
            }
        };
        try (H3Engine fresh = H3Engine.open(options())) {
            assertThatExceptionOfType(CancelledException.class).isThrownBy(() -> fresh.generate(request().build(), interrupter)).withMessageStartingWith("cancelled ");
            assertThat(Thread.interrupted()).as("still interrupted").isTrue();
            assertThat(fresh.generate(request().build()).frameCount()).isEqualTo(22);
        }
    }

    @Test
    void anInterruptedThreadMakesNothing() {
        try (H3Engine fresh = H3Engine.open(options())) {
            Thread.currentThread().interrupt();
            assertThatExceptionOfType(CancelledException.class).isThrownBy(() -> fresh.generate(request().build()));
            assertThat(Thread.currentThread().isInterrupted()).isTrue();
            assertThatExceptionOfType(CancelledException.class).isThrownBy(() -> fresh.check(request().build()));
            assertThat(Thread.interrupted()).isTrue();
            assertThat(fresh.check(request().build()).frames()).isEqualTo(22);
        }
    }

    @Test
    void aBadRequestLoadsNothing() throws IOException {
        try (H3Engine fresh = H3Engine.open(options())) {
            List<Progress> told = new ArrayList<>();
            assertThatExceptionOfType(BadRequestException.class)
                    .isThrownBy(() -> fresh.generate(request().size(65, 32).build(), told::add));
            assertThat(told).isEmpty();
        }
    }

    @Test
    void oneRequestAtATime() throws Exception {
        try (ExecutorService other = Executors.newSingleThreadExecutor()) {
            engine.generate(request().build(), event -> {
                if (event instanceof Progress.StepFinished) {
                    assertThatExceptionOfType(ExecutionException.class)
                            .isThrownBy(() -> other.submit(() -> engine.generate(request().build())).get())
                            .withCauseInstanceOf(IllegalStateException.class).withMessageContaining("one at a time");
                    assertThatIllegalStateException().isThrownBy(engine::close).withMessageContaining("while a request runs");
                }
            });
        }
    }

    @Test
    void closingTwiceIsHarmlessAndUseAfterwardsIsRefused() {
        H3Engine closed = H3Engine.open(options());
        closed.generate(request().build());
        closed.close();
        closed.close();
        assertThatIllegalStateException().isThrownBy(() -> closed.generate(request().build())).withMessageContaining("after close");
        assertThatIllegalStateException().isThrownBy(() -> closed.resolve(request().build())).withMessageContaining("after close");
    }

    @Test
    void aClipOutlivesItsEngineAndWritesEveryFile() throws IOException {
        Clip clip;
        try (H3Engine brief = H3Engine.open(options())) {
            clip = brief.generate(request().build());
        }
        Path folder = Files.createDirectory(temp.resolve("a 'quoted' \"name\" 中文"));
        clip.writeMp4(folder.resolve("clip.mp4"));
        clip.writeWav(folder.resolve("clip.wav"));
        clip.writeFrames(folder.resolve("frames"));
        clip.writeRecord(folder.resolve("clip.json"));
        clip.saveLatents(folder.resolve("clip.safetensors"));
        assertThat(folder.resolve("clip.wav")).hasSize(44 + 2 * 2 * 37 * 800);
        assertThat(folder.resolve("frames/frame-00021.png")).exists();
        try (SafetensorsFile latents = SafetensorsFile.open(folder.resolve("clip.safetensors"))) {
            assertThat(latents.names()).containsExactlyInAnyOrder("latents", "audio_latents");
        }
    }

    @Test
    void aClipCanBeTheReferenceOfTheNext() {
        Clip first = engine.generate(request().build());
        Path video = temp.resolve("first.mp4");
        first.writeMp4(video);
        first.writeWav(temp.resolve("first.wav"));
        first.writeFrames(temp.resolve("frames"));
        Clip next = engine.generate(request().reference(new Reference.Video(video, true))
                .reference(new Reference.Image(temp.resolve("frames/frame-00003.png")))
                .reference(new Reference.Audio(temp.resolve("first.wav"))).build());
        assertThat(next.record().stages()).extracting(StageTime::stage).contains(Stage.CONDITION_ENCODING);
        assertThat(next.record().model().transformer()).isEqualTo("transformer_ref");
        assertThat(next.record().rows().video()).isGreaterThan(next.record().rows().generatedVideo());
        assertThat(next.record().rows().audio() - next.record().rows().generatedAudio()).isEqualTo(2 * 2 * 37);
        assertThat(next.frame(4)).isNotEqualTo(first.frame(4));
    }

    @Test
    void aKeyframeChangesTheClip() {
        Clip first = engine.generate(request().build());
        first.writeFrames(temp.resolve("frames"));
        Clip from = engine.generate(request().image(temp.resolve("frames/frame-00009.png")).build());
        assertThat(from.record().request().task()).isEqualTo(Task.FL2VA);
        assertThat(from.frame(4)).isNotEqualTo(first.frame(4));
    }

    @Test
    void theRecordSaysHowTheClipWasMade() {
        Clip clip = engine.generate(request().build());
        RunRecord record = clip.record();
        assertThat(record.stages()).extracting(StageTime::stage).containsExactly(Stage.LOADING, Stage.TEXT_ENCODING, Stage.DENOISING,
                Stage.VIDEO_DECODING, Stage.AUDIO_DECODING);
        assertThat(record.steps()).extracting(StepRecord::index).containsExactly(0, 1);
        assertThat(record.usefulFlops()).isPositive();
        assertThat(record.schedule().sigmas()).hasSize(3).startsWith(1f).endsWith(0f);
        assertThat(record.schedule().audioSigmas()).isNotEqualTo(record.schedule().sigmas());
        assertThat(record.model().sha256()).hasSize(64);
        assertThat(record.memory().peakResidentBytes()).isPositive();
        assertThat(record.defaults()).contains("task", "flow_shift").doesNotContain("seed", "steps");
        JsonNode json = record.toJson();
        RunRecordSchema.requireValid(json);
        assertThat(json.path("schema").asText()).isEqualTo("kinema.run/2");
        assertThat(json.path("request").path("seed").asLong()).isEqualTo(7);
        assertThat(json.path("engine").path("version").asText()).matches("\\d+\\.\\d+\\.\\d+.*");
        assertThat(json.path("steps")).hasSize(2);
        assertThat(json.path("stages").path("denoising_seconds").asDouble()).isPositive();
    }

    @Test
    void unknownDevicesAndThreadCountsAreRefused() {
        assertThatExceptionOfType(BadRequestException.class)
                .isThrownBy(() -> H3Engine.open(EngineOptions.builder().model(model).device("tpu").build())).withMessageStartingWith("device: got tpu");
        assertThatExceptionOfType(BadRequestException.class).isThrownBy(() -> EngineOptions.builder().threads(0).build())
                .withMessageStartingWith("threads: got 0");
    }
}

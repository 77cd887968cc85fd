package io.kinema.engine.telemetry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.kinema.engine.BadRequestException;
import io.kinema.engine.Cancellation;
import io.kinema.engine.CancelledException;
import io.kinema.engine.Clip;
import io.kinema.engine.EngineOptions;
import io.kinema.engine.GenerateRequest;
import io.kinema.engine.Geometries;
import io.kinema.engine.H3Engine;
import io.kinema.engine.ProgressListener;
import io.kinema.engine.record.StepRecord;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What an engine tells Flight Recorder and Micrometer. */
class TelemetryTest {
    private static final String PROMPT = "A secret red circle";
    private static final EngineOptions OPTIONS = EngineOptions.builder().model(Geometries.NANO).threads(2).build();

    @TempDir
    private Path folder;

    private static GenerateRequest request() {
        return GenerateRequest.prompt(PROMPT).size(96, 64).frames(22).steps(2).build();
    }

    @Test
    void aRecordingHoldsStagesAndSteps() throws IOException {
        Path file = folder.resolve("run.jfr");
        Clip clip;
        try (H3Engine engine = H3Engine.open(OPTIONS); Recording recording = new Recording()) {
            recording.enable(StageEvent.class).withoutThreshold();
            recording.enable(StepEvent.class).withoutThreshold();
            recording.start();
            clip = engine.generate(request());
            recording.stop();
            recording.dump(file);
        }
        // The file promises no order.
        List<RecordedEvent> events = RecordingFile.readAllEvents(file).stream().sorted(Comparator.comparing(RecordedEvent::getStartTime)).toList();
        assertThat(events).filteredOn(e -> e.getEventType().getName().equals("kinema.Stage")).extracting(e -> e.getString("stage"))
                .containsExactlyElementsOf(clip.record().stages().stream().map(s -> s.stage().key()).toList());
        List<RecordedEvent> steps = events.stream().filter(e -> e.getEventType().getName().equals("kinema.Step")).toList();
        assertThat(steps).extracting(e -> e.getLong("usefulFlops"))
                .containsExactlyElementsOf(clip.record().steps().stream().map(StepRecord::usefulFlops).toList());
        assertThat(steps).allSatisfy(e -> assertThat(e.getInt("steps")).isEqualTo(2));
        assertThat(events.toString()).doesNotContain("secret");
    }

    @Test
    void metricsCountClipsStepsAndEndings() {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        try (H3Engine engine = H3Engine.open(OPTIONS, registry)) {
            Clip clip = engine.generate(request());
            assertThat(registry.get("kinema.step").timer().count()).isEqualTo(2);
            assertThat(registry.get("kinema.stage").tag("stage", "denoising").timer().count()).isEqualTo(1);
            assertThat(registry.get("kinema.useful.flops").counter().count()).isEqualTo(clip.record().usefulFlops());
            Cancellation cancelled = new Cancellation();
            cancelled.cancel();
            assertThatExceptionOfType(CancelledException.class).isThrownBy(() -> engine.generate(request(), ProgressListener.NONE, cancelled));
            assertThatExceptionOfType(BadRequestException.class)
                    .isThrownBy(() -> engine.generate(GenerateRequest.prompt(PROMPT).size(95, 64).build()));
        }
        assertThat(registry.get("kinema.requests").tags("task", "t2va", "outcome", "done").counter().count()).isEqualTo(1);
        assertThat(registry.get("kinema.requests").tag("outcome", "cancelled").counter().count()).isEqualTo(1);
        assertThat(registry.get("kinema.requests").tags("task", "unknown", "outcome", "refused").counter().count()).isEqualTo(1);
        assertThat(registry.getMeters()).extracting(Meter::getId).extracting(Object::toString).noneMatch(id -> id.contains("secret") || id.contains("/"));
    }
}

package io.kinema.engine.record;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kinema.engine.GenerateRequest;
import io.kinema.engine.Geometries;
import io.kinema.engine.Stage;
import io.kinema.engine.plan.RequestResolver;
import io.kinema.engine.plan.ResolvedRequest;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class RunRecordTest {
    private static RunRecord record() {
        ResolvedRequest request = new RequestResolver(Geometries.nano(), file -> new io.kinema.engine.plan.PictureSizes.Size(300, 200))
                .resolve(GenerateRequest.prompt("\"Quotes\", 中文 and a\nline break").image(Path.of("/somewhere/else/cat.png")).frames(30).build());
        return new RunRecord(Instant.parse("2026-01-02T03:04:05Z"), request, new RunRecord.Output(0, 0),
                new RunRecord.Model("tiny", "transformer", "ab", "cd"), new RunRecord.Engine("1.2.3", new TreeMap<>(Map.of("ffmpeg", "8"))),
                new HostFacts("processor", 2, 3, "system", "java"), new RunRecord.Execution("cpu", "cpu", "fp32", 2),
                new RunRecord.Schedule(List.of(1f, 0f), List.of(1f, 0f)), List.of(new StageTime(Stage.DENOISING, 2)),
                List.of(new StepTime(0, 1, 1, 2, 3e9)), new UsefulWork.Rows(1, 2, 2, 4, 4), new RunRecord.Memory(5, new TreeMap<>(Map.of("vae", 6L))),
                SoundReport.of(new float[32_000], new float[32_000], 32_000), List.of("a warning"));
    }

    @Test
    void textIsTheTree() throws IOException {
        assertThat(new ObjectMapper().readTree(record().toText())).isEqualTo(new ObjectMapper().readTree(record().toJson().toString()));
        assertThat(record().toText()).endsWith(System.lineSeparator());
    }

    @Test
    void everyPartIsThere() {
        JsonNode json = record().toJson();
        assertThat(json.fieldNames()).toIterable().containsExactly("schema", "created", "request", "output", "model", "engine", "host",
                "execution", "rows", "schedule", "stages", "steps", "work", "memory", "sound", "warnings");
        assertThat(json.path("work").path("useful_flops").asDouble()).isEqualTo(3e9);
        assertThat(json.path("work").path("useful_gflops_per_second").asDouble()).isEqualTo(1.5);
        assertThat(json.path("work").path("formula").asText()).contains("layers");
        assertThat(json.path("request").path("notes")).isNotEmpty();
        assertThat(json.path("request").path("frames").asInt()).isEqualTo(39);
    }

    @Test
    void filesAppearByNameOnly() {
        assertThat(record().toText()).contains("cat.png").doesNotContain("/somewhere");
    }

    @Test
    void numbersThatJsonLacksAreNull() {
        assertThat(record().toJson().path("sound").path("loudness_lufs").isNull()).isTrue();
    }
}

package io.kinema.engine.record;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.compute.Fallback;
import io.kinema.engine.GenerateRequest;
import io.kinema.engine.Geometries;
import io.kinema.engine.RunRecordSchema;
import io.kinema.engine.Stage;
import io.kinema.engine.plan.RequestResolver;
import io.kinema.engine.plan.ResolvedRequest;
import io.kinema.compute.collective.Traffic;
import io.kinema.engine.RankOptions;
import io.kinema.model.load.HostWeights;
import io.kinema.model.load.StagingReport;
import io.kinema.model.work.Work;
import io.kinema.model.work.WorkCounter;
import io.kinema.model.work.WorkPart;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class RunRecordTest {
    private static final String SHA = "0123456789abcdef".repeat(4);

    /** Two ranks of 1 and 3 s, with 8e9 and 4e9 operations in two steps each. */
    private static RunRecord record() {
        ResolvedRequest request = new RequestResolver(Geometries.nano(), file -> new io.kinema.engine.plan.PictureSizes.Size(300, 200))
                .resolve(GenerateRequest.prompt("\"Quotes\", 中文 and a\nline break").image(Path.of("/somewhere/else/cat.png")).frames(30).build());
        return new RunRecord(Instant.parse("2026-01-02T03:04:05Z"), new RunRecord.Session("e", 3, false), request, List.of("task"),
                new RunRecord.Output(0, 0), new RunRecord.Model("tiny", "transformer", SHA, SHA, List.of("BF16", "F32")),
                new RunRecord.Engine(new Installation("1.2.3", SHA, "java", SHA), new TreeMap<>(Map.of("ffmpeg", "8")), List.of(new NativeLibrary("lib.so", SHA))),
                new HostFacts("processor", 2, 3, "system", "java"), new RunRecord.Execution("cpu", "cpu", "fp32", 2, RankOptions.DEFAULTS, Optional.empty()),
                new RunRecord.Schedule(List.of(1f, 0f), List.of(1f, 0f)), List.of(new StageTime(Stage.DENOISING, 2)), new UsefulWork.Rows(1, 2, 2, 4, 4),
                List.of(rank(0, 1, 4_000_000), rank(1, 3, 2_000_000)), new RunRecord.Memory(5, new TreeMap<>(Map.of("vae", 6L)),
                new RunRecord.Weights("layer", HostWeights.PAGEABLE, 7)), 0,
                List.of(new Fallback("reduction", "peer", "native", "no peer access")), SoundReport.of(new float[32_000], new float[32_000], 32_000),
                List.of("a warning"));
    }

    private static RankRecord rank(int rank, double seconds, long rows) {
        WorkCounter counter = new WorkCounter();
        counter.product(rows, 10, 50);
        counter.block();
        Work work = counter.total();
        List<StepRecord> steps = List.of(new StepRecord(0, 1, 1, seconds / 2, seconds / 3, seconds / 4, work, false, false), new StepRecord(1, 0.5f, 0.5f, seconds / 2, seconds / 3, 0, work, false, false));
        return new RankRecord(rank, "cuda:" + rank, new TreeMap<>(), seconds, Work.NONE, steps, 100 + rank, 10, Traffic.NONE, Optional.empty(),
                new StagingReport(2, 48, 4096, 0.5, 0.25));
    }

    @Test
    void textIsTheTree() throws IOException {
        assertThat(new ObjectMapper().readTree(record().toText())).isEqualTo(new ObjectMapper().readTree(record().toJson().toString()));
        assertThat(record().toText()).endsWith(System.lineSeparator());
    }

    @Test
    void theSchemaHoldsEveryPart() throws IOException {
        JsonNode json = new ObjectMapper().readTree(record().toText());
        RunRecordSchema.requireValid(json);
        for (String field : json.properties().stream().map(Map.Entry::getKey).toList()) {
            ObjectNode without = json.deepCopy();
            without.remove(field);
            assertThat(RunRecordSchema.problems(without)).as("without " + field).isNotEmpty();
        }
        ((ObjectNode) json.path("steps").get(0)).put("useful_flops", true);
        assertThat(RunRecordSchema.problems(json)).as("a count that is no number").hasSize(1);
    }

    @Test
    void workIsOfAllRanksAndTimeOfTheSlowest() {
        JsonNode json = record().toJson();
        assertThat(json.path("work").path("useful_flops").asLong()).isEqualTo(12_000_000_000L);
        assertThat(json.path("work").path("useful_gflops_per_second").asDouble()).isEqualTo(4);
        assertThat(json.path("work").path("parts").path("blocks").path("products").asLong()).isEqualTo(12_000_000_000L);
        assertThat(json.path("ranks").get(1).path("useful_flops").asLong()).isEqualTo(4_000_000_000L);
        assertThat(json.path("ranks").get(1).path("step_useful_flops").get(1).asLong()).isEqualTo(2_000_000_000L);
        assertThat(json.path("memory").path("peak_device_bytes").asLong()).isEqualTo(201);
        assertThat(json.path("memory").path("peak_communication_bytes").asLong()).isEqualTo(20);
        assertThat(json.path("request").path("notes")).isNotEmpty();
        assertThat(json.path("request").path("frames").asInt()).isEqualTo(39);
        assertThat(WorkPart.BLOCKS.key()).isEqualTo("blocks");
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

package io.kinema.model.dit;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.compute.Backend;
import io.kinema.compute.Precision;
import io.kinema.compute.Workspace;
import io.kinema.model.GoldenCase;
import io.kinema.model.StageTap;
import io.kinema.model.TestBackends;
import io.kinema.model.load.Parameters.Rounding;
import io.kinema.weights.Checkpoint;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The transformer against numbers of the reference implementation. */
class DitGoldenTest {

    /** What one golden precision means here. */
    record Plan(String golden, Precision precision, Rounding rounding) {
    }

    private static final Plan[] PLANS = {
        new Plan("fp32", Precision.FP32, Rounding.AS_STORED),
        new Plan("fp16_weights_fp32_math", Precision.FP32, Rounding.F16),
        new Plan("bf16", Precision.BF16_FP32RES, Rounding.BF16),
    };

    static Stream<Arguments> cases() {
        Path root = GoldenCase.full().orElse(GoldenCase.bundled());
        return Stream.of("t2va", "fl2va", "ref2va", "long").map(c -> root.resolve("transformer").resolve(c)).filter(Files::isDirectory)
                .flatMap(folder -> TestBackends.all().stream().map(backend -> Arguments.of(folder, backend)));
    }

    @ParameterizedTest
    @MethodSource("cases")
    void reproducesTheReference(Path folder, Supplier<Backend> backends) {
        try (GoldenCase golden = GoldenCase.open(folder.getParent(), folder.getFileName().toString()); Backend backend = backends.get()) {
            int ran = 0;
            for (Plan plan : PLANS) {
                var check = golden.check(plan.golden());
                if (check.isPresent()) {
                    Map<String, Double> stages = run(backend, golden, check.get(), plan);
                    assertThat(stages).as("stages of %s", golden).allSatisfy((name, difference) -> assertThat(difference).isLessThan(1e-5));
                    assertThat(stages.keySet()).as("stages of %s", golden).hasSize(check.get().path("stages").size());
                    ran++;
                }
            }
            assertThat(ran).isGreaterThanOrEqualTo(2);
        }
    }

    private static Map<String, Double> run(Backend backend, GoldenCase golden, JsonNode check, Plan plan) {
        Map<String, Double> stages = new LinkedHashMap<>();
        StageTap tap = golden.measuring(check, stages);
        DitConfig config = DitConfig.read(GoldenCase.json(golden.weights().resolve("config.json")));
        try (Checkpoint source = Checkpoint.open(golden.weights());
             Dit dit = Dit.open(backend, source, config, plan.precision(), plan.rounding());
             Workspace memory = backend.workspace("test")) {
            Velocities out = dit.evaluate(inputs(golden, check), memory, tap);
            golden.assertOutput(check, "video", out.video());
            golden.assertOutput(check, "audio", out.audio());
        }
        return stages;
    }

    /** A forward's inputs as a golden case stores them. */
    static DitInputs inputs(GoldenCase golden, JsonNode check) {
        DitLayout layout = DitLayout.of(golden.doubles(check, "position_ids"), golden.ints(check, "token_tags"), golden.ints(check, "text_indices"),
                golden.ints(check, "video_indices"), golden.ints(check, "audio_indices"));
        return DitInputs.of(layout, golden.rows(check, "encoder_hidden_states"), golden.input(check, "timestep").toFloats(),
                golden.ints(check, "timestep_indices"), golden.rows(check, "hidden_states"), golden.rows(check, "audio_hidden_states"));
    }
}

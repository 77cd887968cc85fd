package io.kinema.engine.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.engine.BadRequestException;
import io.kinema.engine.golden.GoldenCase;
import io.kinema.weights.BadWeightsException;
import io.kinema.weights.FloatConversion;
import io.kinema.weights.MemoryTensors;
import io.kinema.weights.SafetensorsFile;
import io.kinema.weights.SafetensorsWriter;
import io.kinema.weights.StoredTensor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A verifier that cannot fail verifies nothing: every kind of wrong case must come out as a miss or be refused. */
class VerifierTest {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final VerifyOptions STAGES = new VerifyOptions("reference", Optional.empty(), OptionalInt.empty(), true);

    @TempDir
    Path folder;

    @Test
    void acceptsTheUntouchedCase() {
        Path made = copy("scheduler/steps");
        List<CheckResult> results = run(made);
        assertThat(results).isNotEmpty().allMatch(CheckResult::ok);
        assertThat(results.getFirst().line()).matches("scheduler/steps #1 step: rel_l2 [0-9.e-]+ \\(limit 1\\.00e-06\\) ok");
    }

    @Test
    void missesAValueBeyondItsLimitAndNothingElse() {
        Path made = copy("scheduler/steps");
        String name = "n5_shift12_sample1";
        perturb(made.resolve("steps.safetensors"), name, 1e-3f);
        List<CheckResult> missed = run(made).stream().filter(r -> !r.ok()).toList();
        // It is the result of step 0 and the input of step 1.
        assertThat(missed).extracting(CheckResult::check).containsExactly(1, 2);
        assertThat(missed.getFirst().measured().getAsDouble()).isGreaterThan(1e-6);
        assertThat(missed.getFirst().line()).contains("MISS");
    }

    @Test
    void missesAnotherShape() {
        Path made = copy("scheduler/steps");
        rewrite(made.resolve("steps.safetensors"), "n5_shift12_sample1", v -> new float[] {1, 2});
        CheckResult first = run(made).getFirst();
        assertThat(first.ok()).isFalse();
        assertThat(first.measured()).isEmpty();
        assertThat(first.note()).contains("got shape").contains("expected [2]");
    }

    @Test
    void missesAWrongPlainValue() {
        Path made = edit(copy("layout/tables"), json -> ((ObjectNode) json.get("checks").get(0).get("value")).put("aligned", 6));
        List<CheckResult> missed = run(made).stream().filter(r -> !r.ok()).toList();
        assertThat(missed).hasSize(1);
        assertThat(missed.getFirst().note()).isEqualTo(".aligned: got 5, expected 6");
    }

    @Test
    void aNullValueWantsARefusal() {
        Path made = edit(copy("layout/tables"), json -> {
            ((ObjectNode) json.get("checks").get(0)).putNull("value");
            ((ObjectNode) json.get("checks").get(1)).putNull("value");
            ((ObjectNode) json.get("checks").get(1).get("args")).put("num_frames", 0);
        });
        List<CheckResult> results = run(made);
        assertThat(results.get(0).ok()).isFalse();
        assertThat(results.get(0).note()).contains("the reference refuses this");
        assertThat(results.get(1).ok()).isTrue();
    }

    @Test
    void aFailureInsideTheEngineIsAMissNotAnEnd() {
        Path made = edit(copy("scheduler/grid"), json -> ((ObjectNode) json.get("checks").get(0).get("args")).put("points", 1));
        List<CheckResult> results = run(made);
        assertThat(results.getFirst().ok()).isFalse();
        assertThat(results.getFirst().note()).contains("grid points: got 1");
        assertThat(results.stream().skip(1)).allMatch(CheckResult::ok);
    }

    @Test
    void namesTheFirstWrongIntermediate() {
        Path made = edit(copy("transformer/fl2va"), json -> json.put("weights", GoldenCase.subset().resolve("checkpoint/transformer").toString()));
        perturb(made.resolve("intermediates_fp32.safetensors"), "block1", 1f);
        CheckResult first = run(made).getFirst();
        assertThat(first.ok()).as("stages are advice").isTrue();
        assertThat(first.stages()).extracting(CheckResult.StageResult::name).containsExactly("block0", "block1", "block2");
        assertThat(first.firstWrongStage().orElseThrow().name()).isEqualTo("block1");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            format     | 2               | format: got 2, expected 1
            component  | "engine"        | component: got engine, expected one of [audio_vae
            component  | null            | component: got null, expected text
            checks     | []              | checks: got ARRAY, expected a list with at least one check
            checks     | [{}]            | op: got nothing, expected text
            checks     | [{"op":"sigmas"}] | neither out nor value
            checks     | [{"op":"sigma","value":1}] | op: got sigma, expected one of [scale_noise, sigmas, step, timesteps]
            checks     | [{"op":"step","in":{"sample":3},"value":1}] | in sample: got 3
            checks     | [{"op":"sigmas","out":{"at":"grid.safetensors#sigmas_n2_shift12","metric":"l1","limit":0}}] | metric: got l1, expected exact, abs, rel_l2 or u8_levels
            checks     | [{"op":"sigmas","out":{"at":"grid.safetensors#sigmas_n2_shift12","metric":"abs"}}] | expected at (file#tensor), metric and limit
            checks     | [{"op":"sigmas","out":{"at":"grid.safetensors","metric":"abs","limit":0}}] | expected file#tensor
            weights    | "nowhere"       | weights: got
            """)
    void refusesWhatIsNotTheFormat(String key, String value, String message) {
        Path made = edit(copy("scheduler/grid"), json -> json.set(key, tree(value)));
        assertThatThrownBy(() -> run(made)).isInstanceOf(BadRequestException.class).hasMessageContaining(message).hasMessageNotContaining("\n");
    }

    @Test
    void refusesTensorsThatAreNotThereBeforeRunningAnything() {
        Path good = copy("scheduler/grid");
        Path made = edit(copy("scheduler/steps"), json -> ((ObjectNode) json.get("checks").get(1).get("out")).put("at", "steps.safetensors#none"));
        List<CheckResult> heard = new ArrayList<>();
        try (Verifier verifier = Verifier.open(STAGES)) {
            assertThatThrownBy(() -> verifier.verify(List.of(good, made), heard::add)).isInstanceOf(BadWeightsException.class).hasMessageContaining("no tensor none");
        }
        assertThat(heard).isEmpty();
    }

    @Test
    void refusesMissingFilesFoldersWithoutCasesAndBrokenJson() throws IOException {
        Path made = copy("scheduler/steps");
        Files.delete(made.resolve("steps.safetensors"));
        assertThatThrownBy(() -> run(made)).isInstanceOf(BadWeightsException.class).hasMessageContaining("steps.safetensors: no such file");
        Path empty = Files.createDirectory(folder.resolve("empty"));
        assertThatThrownBy(() -> run(empty)).isInstanceOf(BadRequestException.class).hasMessageContaining("expected a folder with a case.json");
        assertThatThrownBy(() -> run(folder.resolve("nothing"))).isInstanceOf(BadRequestException.class);
        Files.writeString(empty.resolve("case.json"), "{\"format\":1,\"format\":1}");
        assertThatThrownBy(() -> run(empty)).isInstanceOf(BadRequestException.class).hasMessageContaining("no valid JSON");
        assertThatThrownBy(() -> Verifier.open(new VerifyOptions("tpu", Optional.empty(), OptionalInt.empty(), false)))
                .isInstanceOf(BadRequestException.class).hasMessageContaining("device: got tpu");
    }

    @Test
    void walksTreesAndTakesCaseFiles() {
        Path grid = copy("scheduler/grid");
        Path steps = copy("scheduler/steps");
        assertThat(Verifier.find(List.of(folder))).containsExactly(grid, steps);
        assertThat(Verifier.find(List.of(steps.resolve("case.json"), folder))).containsExactly(steps, grid);
    }

    private List<CheckResult> run(Path path) {
        List<CheckResult> results = new ArrayList<>();
        try (Verifier verifier = Verifier.open(STAGES)) {
            VerifyReport report = verifier.verify(List.of(path), results::add);
            assertThat(report.lines()).isEqualTo(results.size());
            assertThat(report.ok()).isEqualTo(results.stream().allMatch(CheckResult::ok));
        }
        return results;
    }

    private Path copy(String name) {
        Path from = GoldenCase.subset().resolve(name);
        Path to = folder.resolve(name.replace('/', '_'));
        try (Stream<Path> files = Files.list(from)) {
            Files.createDirectories(to);
            for (Path file : files.toList()) {
                Files.copy(file, to.resolve(file.getFileName()));
            }
            return to;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Path edit(Path made, Consumer<ObjectNode> change) {
        try {
            Path file = made.resolve("case.json");
            ObjectNode json = (ObjectNode) MAPPER.readTree(file.toFile());
            change.accept(json);
            Files.write(file, MAPPER.writeValueAsBytes(json));
            return made;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static JsonNode tree(String json) {
        try {
            return MAPPER.readTree(json);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void perturb(Path file, String name, float by) {
        rewrite(file, name, values -> {
            values[values.length / 2] += by;
            return values;
        });
    }

    /** Replaces one tensor of a file by other FP32 values. */
    private static void rewrite(Path file, String name, UnaryOperator<float[]> change) {
        MemoryTensors.Builder all = MemoryTensors.builder("rewritten");
        try (SafetensorsFile old = SafetensorsFile.open(file)) {
            for (String each : old.names()) {
                StoredTensor t = old.get(each);
                if (each.equals(name)) {
                    float[] before = FloatConversion.toFloats(t);
                    float[] after = change.apply(before);
                    all.floats(each, after, after.length == before.length ? t.shape().toArray() : new long[] {after.length});
                } else {
                    all.put(each, t.dtype(), t.data(), t.shape().toArray());
                }
            }
        }
        try (MemoryTensors made = all.build()) {
            SafetensorsWriter.write(file, made.names().stream().map(made::get).toList(), Map.of());
        }
    }
}

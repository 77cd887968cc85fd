package io.kinema.engine.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
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
import java.util.Arrays;
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

/** A verifier that cannot fail verifies nothing: every kind of wrong case or check must come out as one miss. */
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
        Path made = copy("transformer/fl2va");
        perturb(made.resolve("intermediates_fp32.safetensors"), "block1", 1f);
        CheckResult first = run(STAGES.withModel(GoldenCase.subset().resolve("checkpoint")), made).getFirst();
        assertThat(first.ok()).as("stages are advice").isTrue();
        assertThat(first.stages()).extracting(CheckResult.StageResult::name).containsExactly("block0", "block1", "block2");
        assertThat(first.firstWrongStage().orElseThrow().name()).isEqualTo("block1");
    }

    /** One wrong check among good ones is one miss that says why; the others run. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            {}                                          | op: got nothing, expected text
            7                                           | op: got nothing, expected text
            {"op":"sigmas"}                             | neither out nor value
            {"op":"sigma","value":1}                    | op: got sigma, expected one of [scale_noise, sigmas, step, timesteps]
            {"op":"step","in":{"sample":3},"value":1}   | in sample: got 3
            {"op":"step","args":{"points":5,"shift":12,"index":0},"value":1} | in: got no sample
            {"op":"step","in":{"sample":"none.safetensors#a"},"value":1} | none.safetensors: no such file
            {"op":"step","in":{"sample":"none.png"},"value":1} | file: got none.png
            {"op":"sigmas","args":{"points":"5","shift":12},"value":1} | points: got "5", expected an integer
            {"op":"sigmas","args":{"points":-5,"shift":12},"value":1} | grid points: got -5
            {"op":"sigmas","out":{"at":"grid.safetensors#a","metric":"l1","limit":0}} | metric: got l1, expected exact, abs, rel_l2 or u8_levels
            {"op":"sigmas","out":{"at":"grid.safetensors#a","metric":"abs"}} | expected at (file#tensor), metric and limit
            {"op":"sigmas","out":{"at":"grid.safetensors#a","metric":"abs","limit":-1}} | limit: got -1, expected 0 or a positive number
            {"op":"sigmas","out":{"at":"grid.safetensors#a","metric":"abs","limit":1e999}} | expected at (file#tensor), metric and limit
            {"op":"sigmas","out":{"at":"grid.safetensors#none","metric":"abs","limit":0}} | no tensor none
            {"op":"sigmas","out":{"at":"grid.safetensors","metric":"abs","limit":0}} | expected file#tensor
            {"op":"sigmas","out":{"at":"cut.safetensors#a","metric":"abs","limit":0}} | cut.safetensors
            {"op":"sigmas","out":{"at":"/etc/hostname#a","metric":"abs","limit":0}} | path: got /etc/hostname, expected a relative path that stays inside
            {"op":"sigmas","out":{"at":"../../../a#a","metric":"abs","limit":0}} | path: got ../../../a, expected a relative path that stays inside
            {"op":"step","in":{"sample":"a/../../../../b.png"},"value":1} | path: got a/../../../../b.png, expected a relative path that stays inside
            {"op":"sigmas","out":{"at":"a\\u0000b#a","metric":"abs","limit":0}} | path: got a?b, expected the name of a file
            """)
    void aWrongCheckIsOneMissAndTheOthersRun(String check, String message) throws IOException {
        Path good = copy("scheduler/grid");
        int checks = run(good).size();
        byte[] whole = Files.readAllBytes(good.resolve("grid.safetensors"));
        Files.write(good.resolve("cut.safetensors"), Arrays.copyOf(whole, whole.length - 9));
        Path made = edit(good, json -> ((ArrayNode) json.get("checks")).insert(1, tree(check)));
        List<CheckResult> results = run(made);
        assertThat(results).hasSize(checks + 1);
        CheckResult wrong = results.get(1);
        assertThat(wrong.ok()).isFalse();
        assertThat(wrong.check()).isEqualTo(2);
        assertThat(wrong.line()).contains(" MISS  ").contains(message).doesNotContain("\n").doesNotContain("Exception");
        results.remove(wrong);
        assertThat(results).allMatch(CheckResult::ok);
    }

    /** What Java itself has to say of arithmetic and arrays comes with the arguments, not with the name of an exception. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            {"op":"randn","args":{"seed":"0","shape":[3]},"value":1} | seed: got "0", expected an integer
            {"op":"randn","args":{"seed":1e30,"shape":[3]},"value":1} | seed: got 1.0E30, expected an integer
            {"op":"randn","args":{"seed":10000000000000000000000,"shape":[3]},"value":1} | seed: got 10000000000000000000000, expected an integer
            {"op":"randn","args":{"seed":0,"shape":[-3]},"value":1} | shape: got [-3], expected sizes of 0 or more
            {"op":"randn","args":{"seed":0,"shape":[99999,99999,99999,99999,99999]},"value":1} | expected sizes of 0 or more and at most
            {"op":"rand","args":{"seed":0,"shape":"3"},"value":1} | shape: got "3", expected a list of integers
            {"op":"random64_modulo","args":{"seed":0,"shape":[3],"modulo":0},"value":1} | modulo: got 0, expected 1 or more
            {"op":"randn_sequence","args":{"seed":0,"draws":[{"shape":[-1]}]},"value":1} | shape: got [-1]
            {"op":"randn","args":{"seed":0,"shape":[3]},"out":[]} | neither out nor value
            """)
    void javasOwnExceptionsBecomeMessages(String check, String message) {
        Path made = edit(copy("rng/" + firstOf("rng")), json -> ((ArrayNode) json.get("checks")).removeAll().add(tree(check)));
        assertThat(run(made)).hasSize(1).allSatisfy(r -> assertThat(r.line()).contains("MISS").contains(message).doesNotContain("Exception"));
    }

    @Test
    void whatNoRuleForesawNamesTheArguments() {
        Path made = edit(copy("layout/tables"), json -> ((ArrayNode) json.get("checks")).removeAll().add(tree("""
                {"op":"canvas","args":{"multiple":0,"short_edge":768,"max_pixels":1048576,"aspect_width":16,"aspect_height":9},"value":{}}"""))
                .add(tree("{\"op\":\"frame_counts\",\"args\":{\"num_frames\":-2147483648},\"value\":null}")));
        assertThat(run(made)).hasSize(2).first().satisfies(r -> assertThat(r.line()).contains("MISS").contains("got ").doesNotContain("Exception"));
    }

    /** A case that cannot be read is one miss; the cases beside it run. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            {"format":1,"format":1}                     | no valid JSON
            {"format":2,"case":"a/b"}                   | format: got 2, expected 1
            {"format":"1","case":"a/b"}                 | format: got "1", expected 1
            []                                          | content: got ARRAY, expected a JSON object
            ''                                          | content: got
            {"format":1,"case":"a/b","component":null,"checks":[1]} | component: got null, expected text
            {"format":1,"case":"a/b","component":"rng","checks":[]} | checks: got ARRAY, expected a list with at least one check
            """)
    void anUnreadableCaseIsOneMissAndTheOthersRun(String text, String message) throws IOException {
        Path good = copy("scheduler/grid");
        Path broken = Files.createDirectories(folder.resolve("a/broken"));
        Files.writeString(broken.resolve("case.json"), text);
        List<CheckResult> results = run(folder);
        assertThat(results.getFirst().line()).startsWith("a/broken case.json: format - (limit 0) MISS  ").contains(message).doesNotContain("\n");
        assertThat(results.size()).isGreaterThan(1);
        assertThat(results.stream().skip(1)).allMatch(CheckResult::ok);
        assertThat(good).exists();
    }

    @Test
    void anUnknownComponentIsAMissOfEachOfItsChecks() {
        Path made = edit(copy("scheduler/steps"), json -> json.put("component", "engine"));
        assertThat(run(made)).isNotEmpty().allSatisfy(r -> assertThat(r.line()).contains("MISS")
                .contains("component: got engine, expected one of [audio_vae"));
    }

    @ParameterizedTest
    @CsvSource({"../nowhere, expected a model folder that exists", "/tmp, stays inside the golden set", "../../../.., stays inside the golden set"})
    void weightsOfAnotherSetOrNoneAreAMiss(String weights, String message) {
        Path made = edit(copy("audio_vae/decode_7"), json -> json.put("weights", weights));
        assertThat(run(made)).isNotEmpty().allSatisfy(r -> assertThat(r.line()).contains("MISS").contains(message));
    }

    @Test
    void aTensorThatIsGoneMissesItsCheckAlone() {
        Path good = copy("scheduler/grid");
        Path made = edit(copy("scheduler/steps"), json -> ((ObjectNode) json.get("checks").get(1).get("out")).put("at", "steps.safetensors#none"));
        List<CheckResult> results = new ArrayList<>();
        try (Verifier verifier = Verifier.open(STAGES)) {
            VerifyReport report = verifier.verify(List.of(made, good), results::add);
            assertThat(report.misses()).isEqualTo(1);
            assertThat(report.cases()).isEqualTo(2);
        }
        assertThat(results.stream().filter(r -> !r.ok())).singleElement().satisfies(r -> {
            assertThat(r.check()).isEqualTo(2);
            assertThat(r.note()).contains("no tensor none");
        });
    }

    @Test
    void refusesPathsWithoutCasesBeforeRunningAnything() throws IOException {
        Path good = copy("scheduler/grid");
        Path empty = Files.createDirectory(folder.resolve("empty"));
        List<CheckResult> heard = new ArrayList<>();
        try (Verifier verifier = Verifier.open(STAGES)) {
            assertThatThrownBy(() -> verifier.verify(List.of(good, empty), heard::add)).isInstanceOf(BadRequestException.class)
                    .hasMessageContaining("expected a folder with a case.json");
            assertThatThrownBy(() -> verifier.verify(List.of(good, folder.resolve("nothing")), heard::add)).isInstanceOf(BadRequestException.class);
        }
        try (Verifier verifier = Verifier.open(STAGES.withModel(empty))) {
            assertThatThrownBy(() -> verifier.verify(List.of(good), heard::add)).isInstanceOf(BadWeightsException.class);
        }
        assertThat(heard).isEmpty();
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

    private static String firstOf(String topic) {
        return Verifier.find(List.of(GoldenCase.subset().resolve(topic))).getFirst().getFileName().toString();
    }

    private static List<CheckResult> run(Path path) {
        return run(STAGES, path);
    }

    private static List<CheckResult> run(VerifyOptions options, Path path) {
        List<CheckResult> results = new ArrayList<>();
        try (Verifier verifier = Verifier.open(options)) {
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

package io.kinema.measure.qualify;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.compute.Backend;
import io.kinema.compute.MatrixLayout;
import io.kinema.compute.Operand;
import io.kinema.compute.Precision;
import io.kinema.compute.Rotation;
import io.kinema.compute.cpu.CpuBackend;
import io.kinema.engine.Cancellation;
import io.kinema.engine.EngineOptions;
import io.kinema.engine.GenerateRequest;
import io.kinema.engine.H3Engine;
import io.kinema.engine.ProgressListener;
import io.kinema.engine.convert.QuantizeOptions;
import io.kinema.engine.convert.Quantizer;
import io.kinema.measure.Models;
import io.kinema.measure.bench.BenchReport;
import io.kinema.measure.bench.Environment;
import io.kinema.measure.contract.BenchContract;
import io.kinema.quality.Gate;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.BiFunction;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What qualifies, what does not, and what {@code auto} makes of it. Clips are real; times are given, so that no other process decides a test. */
class QualificationTest {
    private static final EngineOptions BASELINE = Models.nano();
    private static final EngineOptions COLUMN = EngineOptions.builder().model(BASELINE.model().orElseThrow()).threads(1).precision(Precision.FP16_FP32RES)
            .fp16WeightLayout(MatrixLayout.COLUMN).build();

    /** An entry of a right and fast candidate, and one of a fast and wrong one; made once. */
    private static Qualification.Outcome right;
    private static Qualification.Outcome wrong;

    @TempDir
    private Path folder;

    private Ledger ledger;

    @BeforeAll
    static void qualifyOnce(@TempDir Path once) {
        Ledger first = Ledger.at(once.resolve("ledger.jsonl"));
        Qualification.Measuring twiceAsFast = (contract, where, listener, cancellation) -> measured(contract);
        right = qualify(Qualification.on(H3Engine::open, twiceAsFast, first), COLUMN, once);
        wrong = qualify(Qualification.on(options -> options.equals(COLUMN) ? withoutRotation(options) : H3Engine.open(options), twiceAsFast, first), COLUMN, once);
        assertThat(first.read().entries()).extracting(entry -> entry.path("sha256").asText())
                .containsExactly(right.entry().path("sha256").asText(), wrong.entry().path("sha256").asText());
    }

    @BeforeEach
    void makeLedger() {
        ledger = Ledger.at(folder.resolve("ledger.jsonl"));
    }

    /** Everything but the baseline runs twice as fast, steadily. */
    private static BenchReport measured(BenchContract contract) {
        return measured(contract, contract.execution().equals(BASELINE) ? 2 : 1, 0.01);
    }

    private static BenchReport measured(BenchContract contract, double seconds, double spread) {
        List<BenchReport.RunNumbers> runs = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            double time = seconds * (1 + (i == 2 ? spread : 0));
            runs.add(new BenchReport.RunNumbers(i == 0, time + 1, time, List.of(1_000_000L), 1000, List.of(0L)));
        }
        return new BenchReport(contract, new Environment(Instant.EPOCH, JsonNodeFactory.instance.objectNode()), runs, Optional.empty(), OptionalDouble.empty(), List.of());
    }

    private static Qualification.Outcome qualify(Qualification qualification, EngineOptions candidate, Path folder) {
        return qualification.qualify(Models.contract(), candidate, folder, text -> { }, ProgressListener.NONE, new Cancellation());
    }

    private RouteChoice auto() {
        return RouteChooser.of(ledger).choose(BASELINE, Models.request());
    }

    /** Rows' positions never reach queries and keys. */
    private static H3Engine withoutRotation(EngineOptions options) {
        return on(options, (method, arguments) -> {
            if (method.equals("headNormRotary")) {
                arguments[2] = Optional.empty();
            }
            return Optional.empty();
        });
    }

    /** An engine on a backend of which {@code first} may answer an operation itself, or change its arguments. */
    private static H3Engine on(EngineOptions options, BiFunction<String, Object[], Optional<Object>> first) {
        CpuBackend cpu = CpuBackend.open(1);
        return H3Engine.open(options, (Backend) Proxy.newProxyInstance(Backend.class.getClassLoader(), new Class<?>[] {Backend.class}, (proxy, method, arguments) -> {
            Optional<Object> answer = first.apply(method.getName(), arguments);
            try {
                return answer.isPresent() ? answer.get() : method.invoke(cpu, arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        }));
    }

    @Test
    void fp16ColumnQualifiesAndAutoTakesIt() {
        ledger.append(right.entry());
        assertThat(right.reasons()).isEmpty();
        assertThat(right.quality().passed()).isTrue();
        assertThat(right.speedUp()).hasValueSatisfying(value -> assertThat(value).isEqualTo(2));
        ObjectNode entry = ledger.read().entries().getFirst();
        assertThat(entry.path("verdict").asText()).isEqualTo("qualified");
        assertThat(entry.path("candidate").path("options").path("fp16_weight_layout").asText()).isEqualTo("column");
        for (String part : List.of("model", "transformer", "engine", "java", "native_libraries", "machine", "device")) {
            assertThat(entry.path("candidate").path("inputs").has(part)).as(part).isTrue();
        }
        RouteChoice choice = auto();
        assertThat(choice.qualified()).isTrue();
        assertThat(choice.options().precision()).isEqualTo(Precision.FP16_FP32RES);
        assertThat(choice.options().fp16WeightLayout()).hasValue(MatrixLayout.COLUMN);
        assertThat(choice.options().model()).isEqualTo(BASELINE.model());
        assertThat(choice.reasons().getFirst()).startsWith("auto: fp16_weight_layout column, precision fp16-fp32res, qualified for 64x64, 22 frames, 2 evaluations, t2va")
                .contains("2.00 times as fast", entry.path("sha256").asText().substring(0, 12));
        assertThat(choice.options().route()).hasValue(choice.reasons().getFirst());
    }

    @Test
    void theChoiceStandsInTheRunRecord() {
        ledger.append(right.entry());
        try (H3Engine engine = H3Engine.open(auto().options())) {
            assertThat(engine.generate(Models.request()).record().toJson().path("execution").path("choices").path("route").asText()).startsWith("auto: fp16_weight_layout column, precision fp16-fp32res");
        }
    }

    @Test
    void fastAndWrongStaysUnqualifiedAndSelectableByName() {
        ledger.append(wrong.entry());
        assertThat(wrong.qualified()).isFalse();
        assertThat(wrong.reasons()).anySatisfy(reason -> assertThat(reason).startsWith("FAIL  video_latents"));
        assertThat(wrong.candidate()).as("what is wrong is not measured").isEmpty();
        assertThat(ledger.read().entries().getFirst().path("verdict").asText()).isEqualTo("unqualified");
        RouteChoice choice = auto();
        assertThat(choice.qualified()).isFalse();
        assertThat(choice.options()).isEqualTo(BASELINE);
        assertThat(choice.reasons()).anySatisfy(reason -> assertThat(reason).contains("not taken, it failed (FAIL  video_latents"));
        try (H3Engine engine = H3Engine.open(COLUMN)) {
            assertThat(engine.options()).isEqualTo(COLUMN);
        }
    }

    /** INT8 in rotated coordinates whose rows are not rotated: the right shapes, and noise. */
    @Test
    void int8WhoseRowsAreNotRotatedFails() {
        Path file = folder.resolve("int8.safetensors");
        Quantizer.quantize(BASELINE.model().orElseThrow(), file, new QuantizeOptions(256, false, Optional.empty(), Optional.empty(), Optional.empty(), 1), name -> { });
        EngineOptions int8 = EngineOptions.builder().model(BASELINE.model().orElseThrow()).threads(1).transformer(file).build();
        Qualification.Measuring twiceAsFast = (contract, where, listener, cancellation) -> measured(contract);
        Qualification.Outcome whole = qualify(Qualification.on(H3Engine::open, twiceAsFast, ledger), int8, folder);
        Qualification.Outcome unrotated = qualify(Qualification.on(options -> options.equals(int8) ? notRotating(options) : H3Engine.open(options), twiceAsFast, ledger), int8, folder);
        assertThat(latents(whole)).as("INT8 as it comes").isLessThan(0.2);
        assertThat(latents(unrotated)).isGreaterThan(5 * latents(whole));
        assertThat(unrotated.qualified()).isFalse();
        assertThat(auto().options()).isEqualTo(BASELINE);
    }

    private static double latents(Qualification.Outcome outcome) {
        return outcome.quality().lines().stream().filter(line -> line.gate() == Gate.VIDEO_LATENTS).findFirst().orElseThrow().got();
    }

    /** Says that it rotated rows, and did not. */
    private static H3Engine notRotating(EngineOptions options) {
        return on(options, (method, arguments) -> method.equals("rotate") ? Optional.of(new Operand(((Operand) arguments[0]).values(), ((Operand) arguments[0]).rowScale(),
                Optional.of((Rotation) arguments[1]))) : Optional.empty());
    }

    /** What was right once is not taken when it failed since. */
    @Test
    void theLastEntryOfACandidateCounts() {
        ledger.append(right.entry());
        assertThat(auto().qualified()).isTrue();
        ledger.append(wrong.entry());
        assertThat(auto().qualified()).isFalse();
        ledger.append(right.entry());
        assertThat(auto().qualified()).isTrue();
    }

    @Test
    void anUnsteadyCandidateIsNotQualified() {
        Qualification.Outcome outcome = qualify(Qualification.on(H3Engine::open, (contract, where, listener, cancellation) ->
                measured(contract, 1, contract.execution().equals(BASELINE) ? 0 : 0.5), ledger), COLUMN, folder);
        assertThat(outcome.reasons()).singleElement().asString().startsWith("candidate: FAIL  max_cv");
        assertThat(auto().qualified()).isFalse();
    }

    @Test
    void rightButSlowerIsQualifiedAndNotTaken() {
        Qualification.Outcome outcome = qualify(Qualification.on(H3Engine::open, (contract, where, listener, cancellation) ->
                measured(contract, contract.execution().equals(BASELINE) ? 1 : 2, 0), ledger), COLUMN, folder);
        assertThat(outcome.qualified()).isTrue();
        RouteChoice choice = auto();
        assertThat(choice.options()).isEqualTo(BASELINE);
        assertThat(choice.reasons()).anySatisfy(reason -> assertThat(reason).contains("qualified but not faster (0.50 times)"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"model", "transformer", "engine", "java", "native_libraries", "machine", "device"})
    void whatRestsOnOtherInputsIsNoLongerQualified(String part) {
        ObjectNode entry = right.entry();
        for (String side : List.of("baseline", "candidate")) {
            ObjectNode changed = entry.deepCopy();
            ((ObjectNode) changed.path(side).path("inputs")).put(part, "something else");
            Ledger other = Ledger.at(folder.resolve(part + side));
            other.append(changed);
            RouteChoice choice = RouteChooser.of(other).choose(BASELINE, Models.request());
            assertThat(choice.qualified()).as(side).isFalse();
            assertThat(choice.reasons()).anySatisfy(reason -> assertThat(reason).contains("no longer qualified: " + part.replace('_', ' ') + " changed since"));
        }
    }

    @Test
    void anotherShapeOrAnotherBaselineIsNotQualified() {
        ledger.append(right.entry());
        GenerateRequest longer = GenerateRequest.prompt("A red circle bounces").size(64, 64).frames(39).steps(2).seed(3).build();
        assertThat(RouteChooser.of(ledger).choose(BASELINE, longer).qualified()).isFalse();
        GenerateRequest otherWords = GenerateRequest.prompt("A blue star").size(64, 64).frames(22).steps(2).seed(9).build();
        assertThat(RouteChooser.of(ledger).choose(BASELINE, otherWords).qualified()).as("words and seeds are no shape").isTrue();
        EngineOptions reference = EngineOptions.builder().model(BASELINE.model().orElseThrow()).device("reference").build();
        assertThat(RouteChooser.of(ledger).choose(reference, Models.request()).qualified()).isFalse();
    }

    @Test
    void aTamperedEntryIsNotUsedAndIsReported() throws IOException {
        ledger.append(right.entry());
        Files.writeString(ledger.file(), Files.readString(ledger.file()).replace("\"speed_up\":2.0", "\"speed_up\":9.0"));
        RouteChoice choice = auto();
        assertThat(choice.qualified()).isFalse();
        assertThat(choice.reasons()).anySatisfy(reason -> assertThat(reason).contains("damaged: line 1 was changed"));
    }
}

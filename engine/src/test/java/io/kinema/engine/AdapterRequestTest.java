package io.kinema.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.engine.plan.ResolvedRequest;
import io.kinema.model.adapter.Alpha;
import io.kinema.weights.BadWeightsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Adapters in requests: what their contracts fill in and refuse, and clips of the bundled model with one. */
class AdapterRequestTest {
    private static final String TURBO = "minimax_h3_fl2v_turbo_4step_v1.2_768p_bf16.safetensors";

    @TempDir
    private static Path folder;

    private static H3Engine engine;

    @BeforeAll
    static void open() {
        engine = H3Engine.open(EngineOptions.builder().model(Geometries.NANO).build());
        NanoAdapter.write(folder.resolve(TURBO), "", Map.of());
        NanoAdapter.write(folder.resolve("style.safetensors"), "", Map.of("alpha", "4"));
        NanoAdapter.write(folder.resolve("ref.safetensors"), "transformer_ref.", Map.of("alpha", "4"));
        NanoAdapter.write(folder.resolve("minimax_h3_ref2v_turbo_4step_v0.1_bf16.safetensors"), "", Map.of());
        NanoAdapter.write(folder.resolve("silent.safetensors"), "", Map.of());
        NanoAdapter.write(folder.resolve("two.safetensors"), "", Map.of("alpha", "4", "tasks", "t2va", "base_schedule", "1,0.5,0"));
    }

    @AfterAll
    static void close() {
        engine.close();
    }

    private static AdapterUse use(String name, double scale) {
        return AdapterUse.of(folder.resolve(name)).scaled(scale);
    }

    private static GenerateRequest.Builder request() {
        return GenerateRequest.prompt("A red circle bounces.").size(96, 64).frames(22).seed(1);
    }

    private static ResolvedRequest resolve(Consumer<GenerateRequest.Builder> fill) {
        GenerateRequest.Builder builder = request();
        fill.accept(builder);
        return engine.resolve(builder.build());
    }

    private static String refusal(Consumer<GenerateRequest.Builder> fill) {
        String[] message = new String[1];
        assertThatExceptionOfType(BadRequestException.class).isThrownBy(() -> resolve(fill)).satisfies(e -> message[0] = e.getMessage());
        return message[0];
    }

    @Test
    void aContractFillsInTheSchedule() {
        ResolvedRequest resolved = resolve(r -> r.adapter(use(TURBO, 1)));
        assertThat(resolved.steps()).isEqualTo(4);
        assertThat(resolved.videoGrid().sigmas()).containsExactly(1, 0.94736844f, 0.85714287f, 0.6666667f, 0);
        assertThat(resolved.audioGrid().sigmas()).containsExactly(1, 0.9f, 0.75f, 0.5f, 0);
        assertThat(resolved.notes()).anyMatch(n -> n.equals("4 model evaluations, flow shift 6 and audio flow shift 3 from adapter " + TURBO));
        assertThat(resolve(r -> r.adapter(use(TURBO, 0.75)).steps(4).flowShift(6).audioFlowShift(3)).steps()).isEqualTo(4);
    }

    @Test
    void aRequestThatContradictsAContractIsToldWhatToWrite() {
        assertThat(refusal(r -> r.adapter(use(TURBO, 1)).steps(5))).isEqualTo("steps: got 5, expected 4 with adapter " + TURBO
                + " (model evaluations, not grid points); write 4 or leave it out");
        assertThat(refusal(r -> r.adapter(use(TURBO, 1)).steps(8))).contains("expected 4").doesNotContain("grid points");
        assertThat(refusal(r -> r.adapter(use(TURBO, 1)).flowShift(12))).contains("flowShift: got 12, expected 6 with adapter", "write 6 or leave it out");
        assertThat(refusal(r -> r.adapter(use(TURBO, 1)).audioFlowShift(6))).contains("audioFlowShift: got 6, expected 3");
        assertThat(refusal(r -> r.adapter(use(TURBO, 1)).adapter(use("two.safetensors", 1)))).contains("distilled for different schedules");
    }

    @Test
    void fieldReport9ContradictingOrMissingAlphaIsRefused() {
        assertThatThrownBy(() -> resolve(r -> r.adapter(use("silent.safetensors", 1)).steps(2))).isInstanceOf(BadWeightsException.class)
                .hasMessageContaining("no alpha in the file");
        assertThat(refusal(r -> r.adapter(use(TURBO, 1).withAlpha(Alpha.of(128))))).contains("adapterAlpha: got 128, but " + TURBO + " has alpha 8 as published");
        assertThat(refusal(r -> r.adapter(use("style.safetensors", 1).withAlpha(Alpha.of(8))))).contains("has alpha 4 by its file");
        ResolvedRequest beside = resolve(r -> r.adapter(use(TURBO, 1).withAlpha(Alpha.RANK)).adapter(use("silent.safetensors", 0.5).withAlpha(Alpha.RANK)));
        assertThat(beside.adapters()).extracting(a -> a.alpha().value()).containsExactly("8", "rank");
        ResolvedRequest stated = resolve(r -> r.adapter(use("silent.safetensors", 1).withAlpha(Alpha.RANK)).steps(2).flowShift(12).audioFlowShift(3));
        assertThat(stated.adapters().getFirst().alpha().value()).isEqualTo("rank");
    }

    @Test
    void fieldReport11AnAdapterOfTheOtherPartitionIsRefused() {
        assertThat(refusal(r -> r.adapter(use("ref.safetensors", 1)).steps(2)))
                .contains("adapter: got ref.safetensors, trained on transformer_ref, but t2va runs transformer; use it with ref2va");
        assertThat(refusal(r -> r.adapter(use("minimax_h3_ref2v_turbo_4step_v0.1_bf16.safetensors", 1)))).contains("trained on transformer_ref");
        assertThat(refusal(r -> r.adapter(use("two.safetensors", 1)).image(picture()))).contains("with fl2va, but it was trained for t2va");
    }

    private static Path picture() {
        return Geometries.NANO.resolve("../../testdata/goldens/pipeline/fl2va_both/image.png").normalize();
    }

    /** A scale is a double, what deltas are multiplied by is not. */
    @Test
    void aScaleThatNoFloatHoldsIsRefused() {
        assertThat(refusal(r -> r.adapter(use("style.safetensors", 1e300)).steps(4).flowShift(12).audioFlowShift(3)))
                .contains("style.safetensors at scale 1.0E300", "expected a scale that a float holds");
        assertThat(refusal(r -> r.adapter(use("style.safetensors", -3.4e38)).adapter(use("style.safetensors", -1e39)).steps(4).flowShift(12).audioFlowShift(3)))
                .contains("at scale -1.0E39");
    }

    @Test
    void anUnknownAdapterNeedsItsScheduleStated() {
        assertThat(refusal(r -> r.adapter(use("style.safetensors", 1)))).contains("style.safetensors, which is not known here", "steps, flowShift and audioFlowShift", "12 and 3");
        assertThat(refusal(r -> r.adapter(use("style.safetensors", 1)).steps(4).flowShift(12))).contains("not known here");
        assertThat(resolve(r -> r.adapter(use("style.safetensors", 1)).steps(4).flowShift(12).audioFlowShift(3)).levels()).isEmpty();
        assertThat(resolve(r -> r.adapter(use("style.safetensors", 1)).adapter(use(TURBO, 1))).steps()).as("a contract beside it is enough").isEqualTo(4);
    }

    @Test
    void scalesAreReadFromText() throws Exception {
        Path file = Files.createFile(folder.resolve("plain.safetensors"));
        assertThat(AdapterUse.parse(file + ":0.75")).isEqualTo(AdapterUse.of(file).scaled(0.75));
        assertThat(AdapterUse.parse(file + ":-0.5").scale()).isEqualTo(-0.5);
        assertThat(AdapterUse.parse(file.toString())).isEqualTo(AdapterUse.of(file));
        Path colon = Files.createFile(folder.resolve("take:2"));
        assertThat(AdapterUse.parse(colon.toString())).isEqualTo(AdapterUse.of(colon));
        assertThatThrownBy(() -> AdapterUse.parse(file + ":0,7")).isInstanceOf(BadRequestException.class).hasMessageContaining("scale '0,7'");
        assertThatThrownBy(() -> AdapterUse.parse(file + ":NaN")).isInstanceOf(BadRequestException.class).hasMessageContaining("finite");
    }

    @Test
    void theBundledModelMakesClipsWithAdaptersThatComeAndGo() {
        GenerateRequest plain = request().steps(2).flowShift(12).audioFlowShift(3).build();
        Clip without = engine.generate(plain);
        Clip zero = engine.generate(request().steps(2).flowShift(12).audioFlowShift(3).adapter(use("style.safetensors", 0)).build());
        Clip with = engine.generate(request().steps(2).flowShift(12).audioFlowShift(3).adapter(use("style.safetensors", 0.75)).build());
        Clip after = engine.generate(plain);
        assertThat(zero.latents().video()).isEqualTo(without.latents().video());
        assertThat(zero.latents().audio()).isEqualTo(without.latents().audio());
        assertThat(with.latents().video()).isNotEqualTo(without.latents().video());
        assertThat(after.latents().video()).isEqualTo(without.latents().video());
        JsonNode adapter = with.record().toJson().at("/request/adapters/0");
        assertThat(adapter.path("file").asText()).isEqualTo("style.safetensors");
        assertThat(adapter.path("scale").asDouble()).isEqualTo(0.75);
        assertThat(adapter.path("alpha").asText()).isEqualTo("4");
        assertThat(adapter.path("sha256").asText()).hasSize(64);
    }

    @Test
    void aTurboClipRunsItsContract() {
        Clip clip = engine.generate(request().adapter(use(TURBO, 1)).build());
        JsonNode record = clip.record().toJson();
        assertThat(record.path("steps")).hasSize(4);
        assertThat(record.at("/schedule/sigmas/1").floatValue()).isEqualTo(0.94736844f);
        assertThat(record.at("/request/adapters/0/contract/flow_shift").asDouble()).isEqualTo(6);
        assertThat(record.at("/request/adapters/0/recognised_by").asText()).isEqualTo("file name");
    }
}

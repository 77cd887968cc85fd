package io.kinema.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.compute.BackendOptions;
import io.kinema.compute.Precision;
import io.kinema.engine.BadRequestException;
import io.kinema.engine.Clip;
import io.kinema.engine.EngineOptions;
import io.kinema.engine.GenerateRequest;
import io.kinema.engine.H3Engine;
import io.kinema.engine.H3Planner;
import io.kinema.engine.ResidencyOptions;
import io.kinema.engine.forecast.Rates;
import io.kinema.engine.forecast.RunPlan;
import io.kinema.engine.forecast.RunPlan.Residency;
import io.kinema.model.load.HostWeights;
import io.kinema.model.load.WeightResidency;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** What fits is planned, chosen and refused before a weight is read. */
class ResidencyPlanTest {
    private static final Path NANO = Path.of(System.getProperty("kinema.root"), "models", "h3-nano");
    private static final GenerateRequest REQUEST = GenerateRequest.prompt("A red circle bounces.").size(64, 64).frames(22).steps(2).seed(1).build();

    private static EngineOptions.Builder options(String device) {
        return EngineOptions.builder().model(NANO).precision(Precision.FP16_FP32RES).device(device);
    }

    private static EngineOptions limited(String device, long bytes, Optional<WeightResidency> offload) {
        EngineOptions.Builder options = options(device);
        offload.ifPresent(options::weightOffload);
        return (device.equals("cpu") ? options.residency(ResidencyOptions.DEFAULTS.withMaxHostMemory(bytes))
                : options.backend(new BackendOptions(Optional.empty(), OptionalInt.empty(), OptionalInt.empty(), OptionalLong.of(bytes)))).build();
    }

    private static RunPlan plan(EngineOptions options) {
        return H3Planner.plan(options, REQUEST, Rates.NONE);
    }

    private static String refusal(EngineOptions options) {
        BadRequestException[] refused = new BadRequestException[1];
        assertThatExceptionOfType(BadRequestException.class).isThrownBy(() -> plan(options)).satisfies(e -> refused[0] = e);
        return refused[0].getMessage();
    }

    @Test
    void everyPolicyHasItsPeaks() {
        for (String device : List.of("cpu", "cuda:0")) {
            RunPlan plan = plan(options(device).build());
            List<Residency> policies = plan.policies();
            assertThat(policies).extracting(Residency::label).containsExactly("none", "component", "layer, 0 resident");
            assertThat(plan.residency()).isEqualTo(policies.getFirst());
            for (int i = 1; i < policies.size(); i++) {
                assertThat(policies.get(i).deviceBytes()).isLessThanOrEqualTo(policies.get(i - 1).deviceBytes());
                assertThat(policies.get(i).hostBytes()).isLessThanOrEqualTo(policies.get(i - 1).hostBytes());
            }
            assertThat(policies.getFirst().deviceBytes() > 0).isEqualTo(device.startsWith("cuda"));
            JsonNode memory = plan.toJson().path("memory");
            assertThat(memory.path("policies")).hasSize(3);
            assertThat(memory.path("residency").path("offload").asText()).isEqualTo("none");
            assertThat(memory.path("residency").path("peak_host_bytes").asLong()).isEqualTo(plan.residency().hostBytes());
        }
    }

    @Test
    void copiesInHostMemoryAreCounted() {
        long mapped = plan(options("cpu").build()).residency().hostBytes();
        RunPlan held = plan(options("cpu").residency(ResidencyOptions.DEFAULTS.withHostWeights(HostWeights.PAGEABLE)).build());
        assertThat(held.residency().hostBytes() - mapped).isBetween(held.weightBytes() / 2, held.weightBytes());
    }

    @Test
    void layersStayAsFarAsTheLimitGoes() {
        for (String device : List.of("cpu", "cuda:0")) {
            Optional<WeightResidency> layer = Optional.of(WeightResidency.LAYER);
            RunPlan free = plan(limited(device, 1L << 40, layer));
            assertThat(free.residency().residentLayers()).as("no limit that counts").isEqualTo(8);
            long least = needed(free.policies().getLast());
            long most = needed(free.residency());
            int before = 0;
            for (long bytes = least; bytes < most; bytes += Math.max(1, (most - least) / 5)) {
                Residency chosen = plan(limited(device, bytes, layer)).residency();
                assertThat(needed(chosen)).isLessThanOrEqualTo(bytes);
                assertThat(chosen.residentLayers()).isGreaterThanOrEqualTo(before);
                before = chosen.residentLayers();
            }
            assertThat(refusal(limited(device, least - 1, layer))).contains("got " + (least - 1) + " bytes", "expected at least " + least, "ask for fewer frames");
        }
        assertThat(plan(options("cuda:0").weightOffload(WeightResidency.LAYER).build()).residency().residentLayers()).as("without a limit").isZero();
    }

    private static long needed(Residency residency) {
        return residency.deviceBytes() > 0 ? residency.deviceBytes() : residency.hostBytes();
    }

    @Test
    void whatDoesNotFitIsRefusedWithWhatWould() {
        List<Residency> device = plan(options("cuda:0").build()).policies();
        long kept = device.get(0).deviceBytes();
        assertThat(refusal(limited("cuda:0", kept - 1, Optional.empty()))).isEqualTo("maxDeviceMemory: got " + (kept - 1) + " bytes, expected at least " + kept
                + " with all weights kept; add --weight-offload component, which needs " + device.get(1).deviceBytes() + " bytes on the device and "
                + device.get(1).hostBytes() + " on the host");
        long mapped = plan(options("cpu").build()).policies().get(1).hostBytes();
        assertThat(refusal(options("cpu").residency(ResidencyOptions.DEFAULTS.withHostWeights(HostWeights.PAGEABLE).withMaxHostMemory(mapped)).build()))
                .startsWith("maxHostMemory: got " + mapped + " bytes, expected at least ").contains("host weights pageable; use --host-weights mmap and --weight-offload component, which needs " + mapped);
        BackendOptions onTheHost = new BackendOptions(Optional.empty(), OptionalInt.empty(), OptionalInt.empty(), OptionalLong.of(1));
        assertThatExceptionOfType(BadRequestException.class).isThrownBy(() -> options("cpu").backend(onTheHost).build()).withMessageContaining("--max-host-memory");
        assertThatExceptionOfType(BadRequestException.class).isThrownBy(() -> options("cpu").residency(ResidencyOptions.DEFAULTS.withHostWeights(HostWeights.PINNED)).build())
                .withMessage("hostWeights: got pinned on device cpu, expected mmap or pageable, since nothing is copied to a device there; "
                        + "leave --host-weights out, or add --device cuda:0");
    }

    @Test
    void anEngineRefusesInTheSameWordsAndKeepsTheLayersThatWerePlanned() {
        Optional<WeightResidency> layer = Optional.of(WeightResidency.LAYER);
        long least = plan(limited("cpu", 1L << 40, layer)).policies().getLast().hostBytes();
        String refused = refusal(limited("cpu", least - 1, layer));
        try (H3Engine engine = H3Engine.open(limited("cpu", least - 1, layer))) {
            assertThatExceptionOfType(BadRequestException.class).isThrownBy(() -> engine.check(REQUEST)).withMessage(refused);
            assertThatExceptionOfType(BadRequestException.class).isThrownBy(() -> engine.generate(REQUEST)).withMessage(refused);
        }
        EngineOptions roomy = limited("cpu", 1L << 40, layer);
        try (H3Engine engine = H3Engine.open(roomy)) {
            Clip clip = engine.generate(REQUEST);
            assertThat(clip.record().ranks().getFirst().staging().residentBlocks()).isEqualTo(plan(roomy).residency().residentLayers()).isEqualTo(8);
        }
    }
}

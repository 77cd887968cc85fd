package io.kinema.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.kinema.compute.BackendOptions;
import io.kinema.engine.pipeline.Backends;
import io.kinema.engine.plan.LayerRules;
import io.kinema.model.dit.DitConfig;
import io.kinema.model.load.HostWeights;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HostDevicesTest {
    private static final Map<String, BackendOptions> OF_A_GPU = Map.of(
            "attentionBackend", new BackendOptions(Optional.of("flash"), OptionalInt.empty(), OptionalInt.empty(), OptionalLong.empty()),
            "attentionQueryTile", new BackendOptions(Optional.empty(), OptionalInt.of(64), OptionalInt.empty(), OptionalLong.empty()),
            "kernelArchitecture", new BackendOptions(Optional.empty(), OptionalInt.empty(), OptionalInt.of(70), OptionalLong.empty()),
            "maxDeviceMemory", new BackendOptions(Optional.empty(), OptionalInt.empty(), OptionalInt.empty(), OptionalLong.of(1)));

    @ParameterizedTest
    @ValueSource(strings = {"cpu", "reference"})
    void whatOnlyAGpuCanDoIsRefusedWhereverADeviceIsNamed(String device) {
        OF_A_GPU.forEach((field, options) -> {
            assertThatExceptionOfType(BadRequestException.class).isThrownBy(() -> EngineOptions.builder().device(device).backend(options).build())
                    .satisfies(e -> assertThat(e.field()).isEqualTo(field)).withMessageContaining("on device " + device + ", expected none, since ");
            assertThatExceptionOfType(BadRequestException.class).isThrownBy(() -> Backends.opener(device, OptionalInt.empty(), options))
                    .satisfies(e -> assertThat(e.field()).isEqualTo(field));
        });
        assertThatExceptionOfType(BadRequestException.class).isThrownBy(() -> EngineOptions.builder().device(device).graphReplay(GraphReplay.OFF).build())
                .withMessageStartingWith("graphReplay: got 'off' on device " + device);
        assertThatExceptionOfType(BadRequestException.class)
                .isThrownBy(() -> EngineOptions.builder().device(device).residency(ResidencyOptions.DEFAULTS.withHostWeights(HostWeights.PINNED)).build())
                .withMessageStartingWith("hostWeights: got pinned on device " + device);
    }

    @Test
    void aGpuIsToldAllOfIt() {
        OF_A_GPU.values().forEach(options -> assertThat(EngineOptions.builder().device("cuda:0").backend(options).build().backend()).isEqualTo(options));
        assertThat(EngineOptions.builder().device("cuda:0").graphReplay(GraphReplay.OFF).build().graphReplayInForce()).isEqualTo(GraphReplay.OFF);
        assertThat(EngineOptions.defaults().graphReplayInForce()).isEqualTo(GraphReplay.ON);
    }

    @Test
    void noMoreLayersStayThanThereAre() {
        LayerRules.require(DitConfig.RELEASED.layers(), DitConfig.RELEASED);
        assertThatExceptionOfType(BadRequestException.class).isThrownBy(() -> LayerRules.require(51, DitConfig.RELEASED))
                .withMessage("residentLayers: got 51, expected 0 to 50, the layers of this transformer; 50 keeps all of them");
    }
}

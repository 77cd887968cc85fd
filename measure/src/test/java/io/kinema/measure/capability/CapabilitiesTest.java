package io.kinema.measure.capability;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.kinema.compute.Backend;
import io.kinema.compute.BackendOptions;
import io.kinema.compute.BackendProvider;
import io.kinema.compute.Precision;
import io.kinema.engine.BadRequestException;
import io.kinema.engine.EngineOptionsJson;
import io.kinema.engine.pipeline.Backends;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

/** What the descriptor says is what happens. */
class CapabilitiesTest {
    private static final Capabilities HERE = Capabilities.here();

    private static List<Capability> group(String name) {
        return HERE.all().stream().filter(one -> one.group().equals(name)).toList();
    }

    @Test
    void aBackendThatIsThereOpensAndAnotherDoesNot() {
        assertThat(group("backend")).extracting(Capability::name).contains("cpu", "reference");
        for (Capability backend : group("backend")) {
            if (backend.available()) {
                assertThatCode(() -> Backends.opener(backend.name(), OptionalInt.of(1), BackendOptions.DEFAULTS).get().close()).as(backend.name()).doesNotThrowAnyException();
            } else {
                String device = backend.name().replace("N", "0");
                assertThatExceptionOfType(RuntimeException.class).as(backend.name()).isThrownBy(() -> Backends.opener(device, OptionalInt.of(1), BackendOptions.DEFAULTS).get().close());
            }
            assertThat(backend.reason()).isNotBlank();
        }
    }

    @Test
    void anOptionThatIsThereIsReadAndAnotherIsRefused() {
        assertThat(group("option")).extracting(Capability::name).contains("precision", "weight_offload", "residual_reduction");
        for (Capability option : group("option")) {
            JsonNode json = JsonNodeFactory.instance.objectNode().set(option.name(), JsonNodeFactory.instance.nullNode());
            // Null is no value of any option; what matters is whether the name or the value is refused.
            assertThatExceptionOfType(BadRequestException.class).as(option.name()).isThrownBy(() -> EngineOptionsJson.read(json))
                    .satisfies(e -> assertThat(e.field().equals("execution")).isEqualTo(!option.available()));
        }
    }

    @Test
    void everyPlanAndEveryKindOfWeightIsListed() {
        assertThat(group("precision")).hasSize(Precision.values().length).allMatch(Capability::available);
        assertThat(group("weights")).extracting(Capability::name).contains("dense", "int8", "encoded");
        assertThat(group("attention")).extracting(Capability::name).containsExactly("dense", "block_sparse");
        assertThat(group("task")).extracting(Capability::name).containsExactly("t2va", "fl2va", "ref2va");
        assertThat(group("request")).filteredOn(one -> one.name().equals("adapters")).singleElement().satisfies(one -> assertThat(one.available()).isTrue());
    }

    @Test
    void theDocumentIsVersionedAndWhole() {
        JsonNode json = HERE.toJson();
        assertThat(json.path("schema").asText()).isEqualTo("kinema.capabilities/1");
        for (Capability one : HERE.all()) {
            JsonNode node = json.path("capabilities").path(one.group()).path(one.name());
            assertThat(node.path("available").isBoolean()).as(one.toString()).isTrue();
            assertThat(node.path("reason").asText()).isEqualTo(one.reason());
        }
    }

    private static BackendProvider provider(BackendProvider.Finding... findings) {
        return new BackendProvider() {
            @Override
            public String devices() {
                return "card:N";
            }

            @Override
            public boolean serves(String device) {
                return device.startsWith("card");
            }

            @Override
            public void check(String device, BackendOptions options) {
                throw new AssertionError("checked");
            }

            @Override
            public Backend open(String device, BackendOptions options) {
                throw new AssertionError("a descriptor opens no device");
            }

            @Override
            public List<Finding> findings() {
                return List.of(findings);
            }
        };
    }

    @Test
    void aProvidersDevicesAreItsFindings() {
        assertThat(BackendCapabilities.of(provider(new BackendProvider.Finding("card:0", "a card", Optional.empty()), new BackendProvider.Finding("driver", "1.0", Optional.empty()))))
                .containsExactly(Capability.yes("backend", "card:0", "a card"));
        assertThat(BackendCapabilities.of(provider(new BackendProvider.Finding("card", "none: no driver", Optional.empty()))))
                .containsExactly(Capability.no("backend", "card:N", "none: no driver"));
        assertThat(BackendCapabilities.of(provider(new BackendProvider.Finding("card:0", "too old", Optional.of("update it"))))).singleElement()
                .satisfies(one -> assertThat(one.available()).isFalse());
    }
}

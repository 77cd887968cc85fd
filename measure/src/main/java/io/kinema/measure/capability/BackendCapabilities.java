package io.kinema.measure.capability;

import io.kinema.compute.BackendProvider;
import io.kinema.compute.BackendProvider.Finding;
import io.kinema.compute.cpu.CpuFacts;
import io.kinema.engine.pipeline.Backends;
import java.util.ArrayList;
import java.util.List;

/** Which devices there are, without opening one. */
final class BackendCapabilities {
    private static final String GROUP = "backend";

    private BackendCapabilities() {
    }

    static List<Capability> all() {
        List<Capability> all = new ArrayList<>(List.of(cpu(), Capability.yes(GROUP, "reference", "scalar and slow, for verification")));
        Backends.providers().forEach(provider -> all.addAll(of(provider)));
        return all;
    }

    private static Capability cpu() {
        try {
            return Capability.yes(GROUP, "cpu", CpuFacts.of(Runtime.getRuntime().availableProcessors()).toString());
        } catch (IllegalStateException | LinkageError e) {
            return Capability.no(GROUP, "cpu", String.valueOf(e.getMessage()));
        }
    }

    /** One for each device found; one that says no where there is none. */
    static List<Capability> of(BackendProvider provider) {
        List<Finding> findings = provider.findings();
        List<Capability> devices = findings.stream().filter(found -> found.label().contains(":") && provider.serves(found.label()))
                .map(found -> found.advice().map(advice -> Capability.no(GROUP, found.label(), found.value() + "; " + advice))
                        .orElseGet(() -> Capability.yes(GROUP, found.label(), found.value()))).toList();
        return devices.isEmpty() ? List.of(Capability.no(GROUP, provider.devices(), findings.isEmpty() ? "nothing was found" : findings.getFirst().value())) : devices;
    }
}

package io.kinema.cli;

import io.kinema.compute.BackendProvider;
import io.kinema.engine.pipeline.Backends;
import java.util.List;
import java.util.Locale;

/** What the providers of other devices than the processor found. */
final class DeviceFacts {
    private DeviceFacts() {
    }

    static List<Finding> findings() {
        return Backends.providers().stream().flatMap(p -> p.findings().stream().map(f -> of(p, f))).toList();
    }

    private static Finding of(BackendProvider provider, BackendProvider.Finding found) {
        String kind = provider.devices().replaceAll("[^a-z].*", "");
        String label = found.label().toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "_");
        String key = label.startsWith(kind) ? label : kind + "_" + label;
        return found.advice().map(advice -> Finding.bad(key, found.value(), advice)).orElseGet(() -> Finding.good(key, found.value()));
    }
}

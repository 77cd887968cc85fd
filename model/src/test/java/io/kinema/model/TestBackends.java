package io.kinema.model;

import io.kinema.compute.Backend;
import io.kinema.compute.cpu.CpuBackend;
import io.kinema.compute.reference.ReferenceBackend;
import java.util.List;
import java.util.function.Supplier;

/** The backends that the networks' tests run on. */
public final class TestBackends {
    private TestBackends() {
    }

    public static List<Supplier<Backend>> all() {
        return List.of(ReferenceBackend::new, () -> CpuBackend.open(2));
    }
}

package io.kinema.engine.verify;

import io.kinema.compute.Backend;
import io.kinema.compute.cpu.CpuBackend;
import io.kinema.compute.reference.ReferenceBackend;
import io.kinema.engine.BadRequestException;
import java.util.function.Supplier;

/** The devices a verification can run on. */
final class Backends {
    private Backends() {
    }

    /** @throws BadRequestException for a device that is not there; nothing is opened yet */
    static Supplier<Backend> opener(VerifyOptions options) {
        return switch (options.device()) {
            case "cpu" -> () -> CpuBackend.open(options.threads().orElse(Runtime.getRuntime().availableProcessors()));
            case "reference" -> ReferenceBackend::new;
            default -> throw new BadRequestException("device", options.device(), "expected cpu or reference");
        };
    }
}

package io.kinema.engine;

import io.kinema.compute.Backend;
import io.kinema.compute.cpu.CpuBackend;
import io.kinema.compute.reference.ReferenceBackend;

/** Opens the backend that options ask for. */
final class Backends {
    private Backends() {
    }

    /** @throws BadRequestException when this build has no such device */
    static Backend open(EngineOptions options) {
        return switch (options.device()) {
            case "cpu" -> CpuBackend.open(options.threads().orElse(Runtime.getRuntime().availableProcessors()));
            case "reference" -> new ReferenceBackend();
            default -> throw new BadRequestException("device", options.device(), "this build runs on cpu");
        };
    }
}

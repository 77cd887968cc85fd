package io.kinema.engine.pipeline;

import io.kinema.compute.Backend;
import io.kinema.compute.cpu.CpuBackend;
import io.kinema.compute.reference.ReferenceBackend;
import io.kinema.engine.BadRequestException;
import java.util.OptionalInt;
import java.util.function.Supplier;

/** The devices this build runs on. */
public final class Backends {
    private Backends() {
    }

    /**
     * How to open a device; nothing is opened yet.
     *
     * @param device  {@code cpu}, or {@code reference} for the scalar oracle
     * @param threads compute threads, the machine's cores when empty
     * @throws BadRequestException when this build has no such device
     */
    public static Supplier<Backend> opener(String device, OptionalInt threads) {
        return switch (device) {
            case "cpu" -> () -> CpuBackend.open(threads.orElse(Runtime.getRuntime().availableProcessors()));
            case "reference" -> ReferenceBackend::new;
            default -> throw new BadRequestException("device", device, "this build runs on cpu");
        };
    }
}

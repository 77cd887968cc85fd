package io.kinema.engine.pipeline;

import io.kinema.compute.Backend;
import io.kinema.compute.BackendOptions;
import io.kinema.compute.BackendProvider;
import io.kinema.compute.DeviceUnavailableException;
import io.kinema.compute.collective.BackendGroup;
import io.kinema.compute.cpu.CpuBackend;
import io.kinema.compute.reference.ReferenceBackend;
import io.kinema.engine.BadRequestException;
import io.kinema.engine.HostDevices;
import io.kinema.engine.RankOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.ServiceLoader;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The devices this build runs on: the processor, and those of the providers on the class path. */
public final class Backends {
    private Backends() {
    }

    /**
     * How to open a device; nothing is opened yet.
     *
     * @param device  {@code cpu}, {@code reference} for the scalar oracle, or a provider's such as {@code cuda:0}
     * @param threads compute threads, the machine's cores when empty
     * @param options for a provider's device
     * @throws BadRequestException when this build has no such device, or the device no such option
     */
    public static Supplier<Backend> opener(String device, OptionalInt threads, BackendOptions options) {
        HostDevices.require(device, options);
        return switch (device) {
            case "cpu" -> () -> CpuBackend.open(threads.orElse(Runtime.getRuntime().availableProcessors()));
            case "reference" -> ReferenceBackend::new;
            default -> provided(device, options);
        };
    }

    /**
     * How to open the devices of some ranks; nothing is opened yet.
     *
     * @param device  one for all ranks on the host, else one for each: {@code cuda:0,1}
     * @param threads of all ranks together, the machine's cores when empty; each takes an equal part, and at least one
     * @throws BadRequestException when this build has no such device, or other than one for each rank
     */
    public static Supplier<BackendGroup> group(String device, RankOptions ranks, OptionalInt threads, BackendOptions options) {
        int size = ranks.tensorParallel();
        OptionalInt each = OptionalInt.of(threadsOfRank(threads, ranks));
        List<Supplier<Backend>> openers = RankDevices.of(device, size).devices().stream().map(one -> opener(one, each, options)).toList();
        return () -> BackendGroup.of(opened(device, openers), ranks.collectiveTimeout());
    }

    /** Compute threads of each rank. @param threads of all together, the machine's cores when empty */
    public static int threadsOfRank(OptionalInt threads, RankOptions ranks) {
        return Math.max(1, threads.orElse(Runtime.getRuntime().availableProcessors()) / ranks.tensorParallel());
    }

    /** All of them, or none. */
    private static List<Backend> opened(String device, List<Supplier<Backend>> openers) {
        List<Backend> backends = new ArrayList<>();
        try {
            openers.forEach(opener -> backends.add(opener.get()));
            return backends;
        } catch (RuntimeException e) {
            backends.forEach(Backend::close);
            throw e instanceof DeviceUnavailableException && openers.size() > 1
                    ? new DeviceUnavailableException("ranks on " + device + ": " + e.getMessage(), e) : e;
        }
    }

    /** The providers of other devices on the class path. */
    public static List<BackendProvider> providers() {
        return ServiceLoader.load(BackendProvider.class).stream().map(ServiceLoader.Provider::get).toList();
    }

    /** The provider names the option as the option is called. */
    private static BadRequestException told(String device, String refusal) {
        int end = refusal.indexOf(": got ");
        return end < 0 ? BadRequestException.saying("device " + device, refusal) : BadRequestException.saying(refusal.substring(0, end), refusal.substring(end + 2));
    }

    private static Supplier<Backend> provided(String device, BackendOptions options) {
        BackendProvider provider = providers().stream().filter(p -> p.serves(device)).findFirst().orElseThrow(() -> new BadRequestException("device",
                device, "this build runs on " + Stream.concat(Stream.of("cpu"), providers().stream().map(BackendProvider::devices)).collect(Collectors.joining(" and "))));
        try {
            provider.check(device, options);
        } catch (IllegalArgumentException e) {
            throw told(device, e.getMessage());
        }
        return () -> provider.open(device, options);
    }
}

package io.kinema.engine;

import io.kinema.compute.BackendOptions;
import io.kinema.model.load.HostMemory;
import io.kinema.model.load.HostWeights;
import java.util.Optional;
import java.util.Set;

/** The devices that are the host itself, and what they cannot be told: one rule for every command that takes a device. */
public final class HostDevices {
    private static final Set<String> NAMES = Set.of("cpu", "reference");

    private HostDevices() {
    }

    /** True for a device whose memory is the host's. */
    public static boolean include(String device) {
        return NAMES.contains(device);
    }

    /** @throws BadRequestException when a host is told what only a GPU can do */
    public static void require(String device, BackendOptions options) {
        options.attention().ifPresent(name -> refuse(device, "attentionBackend", "'" + name + "'", "it chooses among a GPU's kernels"));
        options.queryTile().ifPresent(rows -> refuse(device, "attentionQueryTile", "" + rows, "it is a block of a GPU's kernels"));
        options.architecture().ifPresent(version -> refuse(device, "kernelArchitecture", "" + version, "it chooses among a GPU's kernels"));
        options.maxMemoryBytes().ifPresent(bytes -> refuse(device, "maxDeviceMemory", bytes + " bytes",
                "that device's memory is the host's, which --max-host-memory limits"));
    }

    /** @throws BadRequestException when a host is told to lock weights for copies to a device */
    public static void require(String device, HostWeights weights) {
        if (weights == HostWeights.PINNED && include(device)) {
            throw BadRequestException.saying("hostWeights", HostMemory.refusal(device));
        }
    }

    /** @throws BadRequestException when a host is told whether to replay */
    static void require(String device, Optional<GraphReplay> replay) {
        replay.ifPresent(choice -> refuse(device, "graphReplay", "'" + choice.label() + "'", "only a GPU records steps"));
    }

    private static void refuse(String device, String field, String got, String because) {
        if (include(device)) {
            throw new BadRequestException(field, got + " on device " + device, "expected none, since " + because + "; leave it out, or name a GPU with --device");
        }
    }
}

package io.kinema.cli;

import io.kinema.engine.BadRequestException;
import io.kinema.engine.PreparedWeightsOptions;
import io.kinema.engine.ResidencyOptions;
import io.kinema.model.load.HostWeights;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import picocli.CommandLine.Option;

/** Where weights live between uses: what a command takes that runs networks alone. */
final class ResidencyFlags {
    @Option(names = "--host-weights", paramLabel = "KIND", description = "Host memory that weights are read from: mmap (the files), pageable (copies) or "
            + "pinned (page-locked copies, for a GPU) (default: mmap).")
    private Optional<String> hostWeights = Optional.empty();

    @Option(names = "--resident-layers", paramLabel = "N", description = "With --weight-offload layer: layers of the transformer that stay on the device "
            + "(default: as many as --max-device-memory allows, none without it).")
    private Optional<Integer> residentLayers = Optional.empty();

    ResidencyOptions options() {
        return new ResidencyOptions(hostWeights.map(ResidencyFlags::hostWeights).orElse(HostWeights.MMAP),
                residentLayers.map(OptionalInt::of).orElse(OptionalInt.empty()), OptionalLong.empty(), PreparedWeightsOptions.DEFAULTS);
    }

    static HostWeights hostWeights(String label) {
        return HostWeights.labelled(label).orElseThrow(() -> new BadRequestException("hostWeights", "'" + label + "'", "expected mmap, pageable or pinned"));
    }
}

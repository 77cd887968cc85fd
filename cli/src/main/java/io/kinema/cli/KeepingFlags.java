package io.kinema.cli;

import io.kinema.engine.PreparedWeightsOptions;
import io.kinema.engine.ResidencyOptions;
import java.util.Optional;
import picocli.CommandLine.Option;

/** How much of a model a process holds, and what it leaves for the next one. */
final class KeepingFlags {
    @Option(names = "--max-host-memory", paramLabel = "BYTES", converter = ByteCount.class, description = "Most host memory to hold, such as 8G, mapped "
            + "files left out; what needs more is refused (default: no limit).")
    private Optional<Long> maxHostMemory = Optional.empty();

    @Option(names = "--prepared-weights", paramLabel = "auto|on|off|DIR", description = "Keep weights as files in the form that products read, for the next "
            + "time and for other processes: auto (large networks, where the disk has room), on, off, or on in a folder (default: auto).")
    private Optional<String> preparedWeights = Optional.empty();

    ResidencyOptions over(ResidencyOptions residency) {
        ResidencyOptions kept = preparedWeights.map(PreparedWeightsOptions::of).map(residency::withPreparedWeights).orElse(residency);
        return maxHostMemory.map(kept::withMaxHostMemory).orElse(kept);
    }
}

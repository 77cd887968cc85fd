package io.kinema.cli;

import io.kinema.compute.BackendOptions;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import picocli.CommandLine.Option;

/** What a GPU is told. */
final class DeviceOptions {
    @Option(names = "--attention-backend", paramLabel = "NAME", description = "GPU kernels for 16-bit attention: auto, cudnn, flash or reference "
            + "(default: auto).")
    private Optional<String> attention = Optional.empty();

    @Option(names = "--attention-query-tile", paramLabel = "64|128|192", description = "Rows of queries in one block of flash attention, 192 on SM90 "
            + "alone; the same bits (default: the fastest).")
    private Optional<Integer> queryTile = Optional.empty();

    @Option(names = "--kernel-architecture", paramLabel = "NN", description = "GPU kernels to use instead of the GPU's own: 70 runs those for a V100 "
            + "on a newer one.")
    private Optional<Integer> architecture = Optional.empty();

    @Option(names = "--max-device-memory", paramLabel = "BYTES", converter = ByteCount.class, description = "Most GPU memory to hold, "
            + "such as 15.5G (default: all).")
    private Optional<Long> maxMemory = Optional.empty();

    BackendOptions backend() {
        return new BackendOptions(attention, queryTile.map(OptionalInt::of).orElse(OptionalInt.empty()),
                architecture.map(OptionalInt::of).orElse(OptionalInt.empty()), maxMemory.map(OptionalLong::of).orElse(OptionalLong.empty()));
    }
}

package io.kinema.cli;

import io.kinema.engine.RankOptions;
import java.util.Optional;
import picocli.CommandLine.Option;

/** How a model is spread over ranks. */
final class ParallelOptions {
    @Option(names = "--tensor-parallel", paramLabel = "1|2|4", description = "Ranks that share the transformer's heads and channels, each with a device of "
            + "its own: with --device cuda:0,1 two GPUs, on the cpu some of its threads (default: 1).")
    private Optional<Integer> tensorParallel = Optional.empty();

    RankOptions ranks() {
        return tensorParallel.map(RankOptions.DEFAULTS::withTensorParallel).orElse(RankOptions.DEFAULTS);
    }
}

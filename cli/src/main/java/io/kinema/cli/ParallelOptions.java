package io.kinema.cli;

import io.kinema.compute.collective.RowReduction;
import io.kinema.engine.BadRequestException;
import io.kinema.engine.RankOptions;
import io.kinema.engine.ResidualOptions;
import java.util.Optional;
import java.util.OptionalLong;
import picocli.CommandLine.Option;

/** How a model is spread over ranks. */
final class ParallelOptions {
    @Option(names = "--tensor-parallel", paramLabel = "1|2|4", description = "Ranks that share the transformer's heads and channels, each with a device of "
            + "its own: with --device cuda:0,1 two GPUs, on the cpu some of its threads (default: 1).")
    private Optional<Integer> tensorParallel = Optional.empty();

    @Option(names = "--residual-sequence-parallel", description = "Keep each row of the transformer's residual stream on one rank only: less memory, the same "
            + "bits. One rank has all rows anyway.")
    private boolean residualSequenceParallel;

    @Option(names = "--residual-reduction", paramLabel = "native|peer", description = "With --residual-sequence-parallel, how a rank's rows are added up: by "
            + "the all-reduce, or by four ranks reading each other's, with its bits (default: native).")
    private Optional<String> residualReduction = Optional.empty();

    @Option(names = "--residual-reduction-memory-gib", paramLabel = "GIB", description = "Most memory that --residual-reduction peer may take on each rank; a "
            + "shape that needs more uses the all-reduce (default: 4).")
    private Optional<Double> residualReductionMemoryGib = Optional.empty();

    RankOptions ranks() {
        RankOptions ranks = tensorParallel.map(RankOptions.DEFAULTS::withTensorParallel).orElse(RankOptions.DEFAULTS);
        return ranks.withResidual(new ResidualOptions(residualSequenceParallel, residualReduction.map(ParallelOptions::reduction).orElse(RowReduction.Mode.NATIVE),
                residualReductionMemoryGib.map(gib -> OptionalLong.of(ResidualOptions.bytes(gib))).orElse(OptionalLong.empty())));
    }

    private static RowReduction.Mode reduction(String label) {
        return RowReduction.Mode.labelled(label).orElseThrow(() -> new BadRequestException("residualReduction", "'" + label + "'", "expected native or peer"));
    }
}

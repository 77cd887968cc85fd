package io.kinema.engine;

import io.kinema.compute.collective.RowReduction;
import io.kinema.model.dit.ResidualSharding;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Where the transformer's FP32 residual rows live when it is spread over ranks. The same bits either way.
 *
 * @param sequenceParallel each row on one rank, which alone normalises it and adds to it; else every row on every rank. One rank has all rows anyway
 * @param reduction        how a rank's rows are added up: by the all-reduce, or by peers where that gives the same bits, which takes four ranks
 * @param memoryBytes      the most memory that peers may take for it on each rank; {@link #DEFAULT_MEMORY_BYTES} when empty
 */
public record ResidualOptions(boolean sequenceParallel, RowReduction.Mode reduction, OptionalLong memoryBytes) {
    /** Enough for a released transformer's longest text-to-video sequence. */
    public static final long DEFAULT_MEMORY_BYTES = 4L << 30;

    /** Every row on every rank. */
    public static final ResidualOptions DEFAULTS = new ResidualOptions(false, RowReduction.Mode.NATIVE, OptionalLong.empty());

    private static final double GIB = 1 << 30;

    public ResidualOptions {
        Objects.requireNonNull(reduction, "reduction");
        Objects.requireNonNull(memoryBytes, "memoryBytes");
        if (reduction == RowReduction.Mode.PEER && !sequenceParallel) {
            throw new BadRequestException("residualReduction", reduction.label(), "expected native where every rank has all residual rows; add --residual-sequence-parallel");
        }
        if (memoryBytes.isPresent() && reduction != RowReduction.Mode.PEER) {
            throw new BadRequestException("residualReductionMemoryGib", "" + gib(memoryBytes.getAsLong()), "expected none with the native reduction, which takes no memory; add "
                    + "--residual-reduction peer");
        }
        if (memoryBytes.isPresent() && memoryBytes.getAsLong() < 1) {
            throw new BadRequestException("residualReductionMemoryGib", "" + gib(memoryBytes.getAsLong()), "expected more than 0");
        }
    }

    /** What they ask of the transformer; empty for every row on every rank. */
    public Optional<ResidualSharding> sharding() {
        return sequenceParallel ? Optional.of(new ResidualSharding(reduction, budgetBytes())) : Optional.empty();
    }

    /** The budget, stated or not. */
    public long budgetBytes() {
        return memoryBytes.orElse(DEFAULT_MEMORY_BYTES);
    }

    /** Bytes in GiB. */
    static double gib(long bytes) {
        return bytes / GIB;
    }

    /** GiB, as options state them, in bytes. @throws BadRequestException when it is not a number above 0 */
    public static long bytes(double gib) {
        if (!(gib > 0 && gib <= Integer.MAX_VALUE)) {
            throw new BadRequestException("residualReductionMemoryGib", "" + gib, "expected more than 0 and at most " + Integer.MAX_VALUE);
        }
        return Math.max(1, Math.round(gib * GIB));
    }
}

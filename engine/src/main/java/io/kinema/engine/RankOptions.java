package io.kinema.engine;

import java.time.Duration;
import java.util.Objects;
import java.util.Set;

/**
 * How a model is spread over ranks: platform threads of this process, each with a device of its own.
 *
 * @param tensorParallel    ranks that share the transformer's and the text encoder's heads and channels: 1, 2 or 4
 * @param collectiveTimeout the longest that one rank waits for the others at one point; then all of them end
 * @param residual          where the transformer's residual rows live; on one rank there is nothing to choose
 */
public record RankOptions(int tensorParallel, Duration collectiveTimeout, ResidualOptions residual) {
    /** Numbers of ranks that a model can be spread over. */
    public static final Set<Integer> SIZES = Set.of(1, 2, 4);

    /** Longer than the slowest operation between two points where ranks meet. */
    public static final Duration COLLECTIVE_TIMEOUT = Duration.ofMinutes(30);

    /** One rank: no sharing at all. */
    public static final RankOptions DEFAULTS = new RankOptions(1, COLLECTIVE_TIMEOUT, ResidualOptions.DEFAULTS);

    public RankOptions {
        Objects.requireNonNull(collectiveTimeout, "collectiveTimeout");
        Objects.requireNonNull(residual, "residual");
        if (!SIZES.contains(tensorParallel)) {
            throw new BadRequestException("tensorParallel", "" + tensorParallel, "expected 1, 2 or 4 ranks");
        }
        if (collectiveTimeout.isNegative() || collectiveTimeout.isZero()) {
            throw new BadRequestException("collectiveTimeout", "" + collectiveTimeout, "expected a time above 0");
        }
    }

    /** The same with this many ranks. */
    public RankOptions withTensorParallel(int ranks) {
        return new RankOptions(ranks, collectiveTimeout, residual);
    }

    /** The same with this timeout. */
    public RankOptions withCollectiveTimeout(Duration timeout) {
        return new RankOptions(tensorParallel, timeout, residual);
    }

    /** The same with residual rows there. */
    public RankOptions withResidual(ResidualOptions rows) {
        return new RankOptions(tensorParallel, collectiveTimeout, rows);
    }
}

package io.kinema.engine.forecast;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.compute.collective.RowReduction;
import io.kinema.compute.collective.RowShares;
import io.kinema.engine.RankOptions;
import io.kinema.model.dit.ResidualSharding;
import java.util.Optional;

/**
 * How the residual rows of a request will lie on its ranks and be added up, as far as it can be told before.
 *
 * @param shares        of the packed rows
 * @param reduction     what will be used
 * @param bufferBytes   of each rank, while the reduction is made ready
 * @param nativeBecause why the all-reduce, or nothing, will be used in the place of what was asked for
 */
public record ResidualForecast(RowShares shares, RowReduction.Mode reduction, long bufferBytes, Optional<String> nativeBecause) {
    /** Empty where every rank will have all rows, as it was asked. @param hidden width of a row */
    static Optional<ResidualForecast> of(RankOptions ranks, int rows, int hidden) {
        return ranks.residual().sharding().map(sharding -> {
            RowShares shares = ResidualSharding.shares(rows, ranks.tensorParallel());
            Optional<String> because = sharding.fallback(shares, hidden);
            boolean peers = sharding.reduction() == RowReduction.Mode.PEER && because.isEmpty();
            return new ResidualForecast(shares, peers ? RowReduction.Mode.PEER : RowReduction.Mode.NATIVE, peers ? RowReduction.peerBytes(shares, hidden) : 0, because);
        });
    }

    /** Adds what it says to a plan. */
    void put(ObjectNode plan) {
        ObjectNode node = plan.putObject("residual_rows").put("padded", shares.padded()).put("of_each_rank", shares.each()).put("reduction", reduction.label())
                .put("buffer_bytes", bufferBytes);
        nativeBecause.ifPresent(reason -> node.put("native_because", reason));
    }
}

package io.kinema.engine.plan;

import io.kinema.engine.BadRequestException;
import io.kinema.model.dit.DitConfig;
import java.util.stream.IntStream;

/** Whether a model can be spread over so many ranks. */
public final class RankRules {
    private RankRules() {
    }

    /** @throws BadRequestException when the transformer's heads or channels cannot be shared out evenly */
    public static void require(int ranks, DitConfig config) {
        if (!fits(ranks, config)) {
            int most = IntStream.of(2, 1).filter(fewer -> fits(fewer, config)).findFirst().orElse(1);
            throw new BadRequestException("tensorParallel", "" + ranks, "expected a divisor of this transformer's " + config.heads() + " heads and "
                    + config.ffn() + " feed-forward channels; use --tensor-parallel " + most);
        }
    }

    /** Whether its heads and channels can be shared out evenly. */
    public static boolean fits(int ranks, DitConfig config) {
        return config.heads() % ranks == 0 && config.ffn() % ranks == 0;
    }
}

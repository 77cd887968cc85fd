package io.kinema.measure.qualify;

import io.kinema.engine.EngineOptions;
import java.util.List;

/**
 * How {@code auto} runs a request.
 *
 * @param options   to run with
 * @param qualified whether the ledger vouches for them; otherwise they are the options as given
 * @param reasons   which route and why, and why others were not taken, one sentence each
 */
public record RouteChoice(EngineOptions options, boolean qualified, List<String> reasons) {
    public RouteChoice {
        reasons = List.copyOf(reasons);
    }
}

package io.kinema.model.dit;

import io.kinema.model.adapter.AdapterTarget;
import io.kinema.model.layer.Linear;
import io.kinema.model.layer.LowRankDelta;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The low-rank deltas of all adapters in use. Owns nothing; equal when the same matrices act with the same factors.
 *
 * @param deltas by the layer they add to, in the order of the request
 */
record AdaptersInForce(Map<AdapterTarget, List<LowRankDelta>> deltas) {
    static final AdaptersInForce NONE = new AdaptersInForce(Map.of());

    static AdaptersInForce of(List<ScaledAdapter> chosen) {
        Map<AdapterTarget, List<LowRankDelta>> all = new HashMap<>();
        for (ScaledAdapter one : chosen) {
            if (one.scale() != 0) {
                one.adapter().deltas(one.scale()).forEach((target, delta) -> all.computeIfAbsent(target, t -> new ArrayList<>()).add(delta));
            }
        }
        return all.isEmpty() ? NONE : new AdaptersInForce(all);
    }

    boolean none() {
        return deltas.isEmpty();
    }

    /** The layer {@code module} with the deltas on it. */
    Linear on(String module, Linear base) {
        return on(AdapterTarget.whole(module), base);
    }

    Linear on(AdapterTarget target, Linear base) {
        return none() ? base : base.with(deltas.getOrDefault(target, List.of()));
    }
}

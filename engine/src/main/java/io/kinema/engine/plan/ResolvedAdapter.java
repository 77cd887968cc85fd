package io.kinema.engine.plan;

import io.kinema.engine.AdapterUse;
import io.kinema.engine.record.AdapterWork;
import io.kinema.model.adapter.Adapter;
import io.kinema.model.adapter.Adapter.AlphaUsed;
import io.kinema.model.adapter.Adapter.Recognition;
import io.kinema.model.adapter.SamplingContract;
import java.util.Optional;

/**
 * An adapter that passed every rule, for plans and run records.
 *
 * @param use         as the request wants it
 * @param sha256      of the file's content
 * @param recognition what it was recognised as
 * @param alpha       what scales its pairs
 * @param modules     modules that its low-rank pairs reach
 * @param rank        its largest rank
 * @param fused       it is fused into the weights before they are loaded
 * @param contract    how it must be sampled
 * @param work        operations that it adds
 * @param reach       products that it adds them to
 */
public record ResolvedAdapter(AdapterUse use, String sha256, Recognition recognition, AlphaUsed alpha, int modules, int rank,
                              boolean fused, Optional<SamplingContract> contract, AdapterWork work, AdapterReach reach) {
    static ResolvedAdapter of(AdapterUse use, Adapter adapter) {
        return new ResolvedAdapter(use, adapter.sha256(), adapter.recognition(), adapter.alpha(), adapter.modules(),
                adapter.rank(), adapter.fused(), adapter.contract(), AdapterWork.of(adapter), AdapterReach.of(adapter));
    }

    /** True unless its scale leaves it out. */
    public boolean active() {
        return use.scale() != 0;
    }
}

package io.kinema.engine.record;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.compute.collective.RowReduction;
import io.kinema.engine.RankOptions;
import io.kinema.engine.ResidualOptions;

/** Writes how a model was, or would be, spread over ranks, in run records and plans. */
public final class RankJson {
    private RankJson() {
    }

    /** Adds the fields of {@code ranks} to an execution. */
    public static void put(ObjectNode execution, RankOptions ranks) {
        execution.put("tensor_parallel", ranks.tensorParallel());
        ResidualOptions residual = ranks.residual();
        if (residual.sequenceParallel()) {
            execution.put("residual_sequence_parallel", true).put("residual_reduction", residual.reduction().label());
            if (residual.reduction() == RowReduction.Mode.PEER) {
                execution.put("residual_reduction_memory_bytes", residual.budgetBytes());
            }
        }
    }
}

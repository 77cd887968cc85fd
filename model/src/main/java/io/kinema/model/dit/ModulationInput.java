package io.kinema.model.dit;

import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.model.StageTap;
import io.kinema.model.layer.Execution;

/**
 * What every AdaLN projection reads: a few numbers made from the timestep alone. FP32 in every precision plan. Its weights
 * are on the device only while {@link #forward} runs.
 */
interface ModulationInput {
    /** Numbers for each timestep: the input width of the AdaLN projections. */
    int width();

    /**
     * Each timestep's bits do not depend on the others in the list.
     *
     * @param owner of the result
     * @return FP32 [T, width]
     */
    Tensor forward(Execution run, AdaptersInForce adapters, float[] timesteps, Workspace owner, StageTap tap);
}

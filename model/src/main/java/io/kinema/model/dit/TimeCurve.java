package io.kinema.model.dit;

import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.model.StageTap;
import io.kinema.model.layer.Execution;
import io.kinema.model.load.Parameters;

/**
 * The pruned form of the timestep MLP: its output after the last SiLU, in a few coordinates, as a table over time that is linear
 * between its points. With {@code p = clamp(t, 0, 1) * (points - 1)} and {@code i = min(floor(p), points - 2)} the vector is
 * {@code table[i] + (p - i) * (table[i + 1] - table[i])}, every operation in FP32.
 */
final class TimeCurve implements ModulationInput {
    private final DitConfig.Curve curve;
    private final float[] table;

    TimeCurve(Parameters p, DitConfig.Curve curve) {
        this.curve = curve;
        this.table = p.host(DitTensors.CURVE_TABLE, curve.points(), curve.rank());
    }

    @Override
    public int width() {
        return curve.rank();
    }

    @Override
    public Tensor forward(Execution run, AdaptersInForce adapters, float[] timesteps, Workspace owner, StageTap tap) {
        int rank = curve.rank();
        float[] values = new float[timesteps.length * rank];
        for (int t = 0; t < timesteps.length; t++) {
            float place = Math.clamp(timesteps[t], 0f, 1f) * (curve.points() - 1);
            int low = Math.min((int) place, curve.points() - 2);
            for (int k = 0; k < rank; k++) {
                float from = table[low * rank + k];
                values[t * rank + k] = from + (place - low) * (table[(low + 1) * rank + k] - from);
            }
        }
        Tensor coordinates = Execution.upload(run.backend(), owner, values, timesteps.length, rank);
        tap.stage("time_curve", coordinates);
        return coordinates;
    }
}

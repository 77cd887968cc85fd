package io.kinema.engine.verify;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.engine.schedule.FlowNoise;
import io.kinema.engine.schedule.SigmaGrid;
import java.util.Map;

/** Noise grids, the denoising step and the noising of conditions. */
final class SchedulerOperations implements Operations {
    @Override
    public Map<String, Operation> byName() {
        return Map.of("sigmas", q -> vector(grid(q).sigmas()), "timesteps", q -> vector(grid(q).timesteps()),
                "step", SchedulerOperations::step, "scale_noise", SchedulerOperations::scaleNoise);
    }

    /** Given by points and shift, or value by value. */
    private static SigmaGrid grid(Question q) {
        JsonNode sigmas = q.optional("sigmas");
        if (!sigmas.isArray()) {
            return SigmaGrid.ofPoints(q.integer("points"), q.number("shift"));
        }
        float[] values = new float[sigmas.size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) sigmas.get(i).asDouble();
        }
        return SigmaGrid.of(values);
    }

    private static Answer step(Question q) {
        SigmaGrid grid = grid(q);
        int index = q.integer("index");
        if (index < 0 || index >= grid.evaluations()) {
            throw q.bad("index", q.argument("index"), "expected 0 to " + (grid.evaluations() - 1));
        }
        Values sample = q.input("sample");
        float[] updated = sample.toFloats();
        grid.step(index).apply(updated, q.input("model_output").toFloats());
        return Answer.of(Values.floats(updated, sample.shape().toArray()));
    }

    private static Answer scaleNoise(Question q) {
        Values sample = q.input("sample");
        return Answer.of(Values.floats(FlowNoise.mix(sample.toFloats(), q.input("noise").toFloats(), q.number("t")), sample.shape().toArray()));
    }

    private static Answer vector(float[] values) {
        return Answer.of(Values.floats(values, values.length));
    }
}

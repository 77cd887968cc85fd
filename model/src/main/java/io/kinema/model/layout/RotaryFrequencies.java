package io.kinema.model.layout;

import com.fasterxml.jackson.databind.JsonNode;
import io.kinema.model.dit.DitConfig;
import io.kinema.weights.BadWeightsException;
import io.kinema.weights.FloatConversion;
import io.kinema.weights.TensorSource;

/** The rotary frequencies that the original transformer stores, {@code theta^(-i / n)}: they must be those that the engine computes. */
final class RotaryFrequencies {
    static final String NAME = "rope.inv_freq";
    /** A few units in the last place of FP32. */
    private static final double TOLERANCE = 1e-6;

    private RotaryFrequencies() {
    }

    /** The frequencies of a config, rounded once. */
    static float[] values(JsonNode config) {
        DitConfig dit = DitConfig.read(config);
        float[] values = new float[dit.ropeFrequencies()];
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) Math.pow(dit.ropeTheta(), -(double) i / values.length);
        }
        return values;
    }

    static void require(TensorSource stored, DitConfig config) {
        stored.find(NAME).ifPresent(tensor -> {
            float[] values = FloatConversion.toFloats(tensor);
            for (int i = 0; i < values.length; i++) {
                double expected = Math.pow(config.ropeTheta(), -(double) i / config.ropeFrequencies());
                if (!(Math.abs(values[i] - expected) <= TOLERANCE * expected)) {
                    throw new BadWeightsException(tensor.file() + ": tensor " + NAME + " element " + i + " is " + values[i] + ", expected "
                            + (float) expected + " for rotary base " + config.ropeTheta() + "; this model's positions differ from the released ones");
                }
            }
        });
    }
}

package io.kinema.model.dit;

import io.kinema.compute.Tensor;

/**
 * The arguments of one whole forward, as the reference's model takes them.
 *
 * @param layout       rows of the packed sequence
 * @param text         FP32 [text rows, text channels]
 * @param timesteps    the timesteps that occur, 0 (noise) to 1 (clean)
 * @param rowTimesteps FP32 timestep of every packed row, each one of {@code timesteps}
 * @param video        FP32 [video rows, video patch channels]
 * @param audio        FP32 [audio rows, audio channels]
 */
public record DitInputs(DitLayout layout, Tensor text, float[] timesteps, float[] rowTimesteps, Tensor video, Tensor audio) {
    /** With a row's timestep given as an index into {@code timesteps}. */
    public static DitInputs of(DitLayout layout, Tensor text, float[] timesteps, int[] timestepIndices, Tensor video, Tensor audio) {
        float[] rows = new float[timestepIndices.length];
        for (int i = 0; i < rows.length; i++) {
            if (timestepIndices[i] < 0 || timestepIndices[i] >= timesteps.length) {
                throw new IllegalArgumentException("dit timestep index of row " + i + ": got " + timestepIndices[i] + ", expected 0 to " + (timesteps.length - 1));
            }
            rows[i] = timesteps[timestepIndices[i]];
        }
        return new DitInputs(layout, text, timesteps.clone(), rows, video, audio);
    }
}

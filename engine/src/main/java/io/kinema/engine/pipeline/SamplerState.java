package io.kinema.engine.pipeline;

import java.util.List;

/**
 * All that the denoising loop carries from one step to the next. Set back, the loop goes on to the same bits: an Euler step depends on
 * nothing else that changes.
 *
 * @param step    evaluations done, at least 1
 * @param video   FP32 rows of all visual conditions, then of the video; not copied
 * @param audio   FP32 rows of all sound references, then of the sound; not copied
 * @param seconds wall-clock time of each evaluation done
 */
public record SamplerState(int step, float[] video, float[] audio, List<Double> seconds) {
    public SamplerState {
        seconds = List.copyOf(seconds);
        if (step < 1 || seconds.size() != step) {
            throw new IllegalArgumentException("sampler state: got " + seconds.size() + " times for step " + step + ", expected one for each");
        }
    }
}

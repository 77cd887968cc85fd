package io.kinema.engine.pipeline;

/**
 * All that the denoising loop carries from one step to the next. Set back, the loop goes on to the same bits: an Euler step depends on
 * nothing else that changes.
 *
 * @param step  evaluations done, at least 1
 * @param video FP32 rows of all visual conditions, then of the video; not copied
 * @param audio FP32 rows of all sound references, then of the sound; not copied
 */
public record SamplerState(int step, float[] video, float[] audio) {
    public SamplerState {
        if (step < 1) {
            throw new IllegalArgumentException("sampler state: got step " + step + ", expected 1 or more");
        }
    }
}

package io.kinema.engine.record;

import io.kinema.model.work.Work;

/**
 * One model evaluation, as one rank executed it.
 *
 * @param index          0 for the first
 * @param sigma          noise level of the video before it
 * @param audioSigma     noise level of the sound before it
 * @param seconds        wall-clock time, model and scheduler step
 * @param deviceSeconds  of the model on the device, between two of its own time marks
 * @param enqueueSeconds that the host took to hand the model's operations to the device
 * @param work           what was executed
 * @param replayed       the device ran a recording of an earlier evaluation, with the same bits
 * @param restored       an earlier attempt executed it
 */
public record StepRecord(int index, float sigma, float audioSigma, double seconds, double deviceSeconds, double enqueueSeconds, Work work,
                         boolean replayed, boolean restored) {
    /** A step that an earlier attempt executed and this one went on from: it took its time then, and no work now. */
    public static StepRecord restored(int index, float sigma, float audioSigma, double seconds) {
        return new StepRecord(index, sigma, audioSigma, seconds, 0, 0, Work.NONE, false, true);
    }

    /** Useful work of the step. */
    public long usefulFlops() {
        return work.usefulFlops();
    }
}

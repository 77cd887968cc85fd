package io.kinema.engine.record;

/**
 * One model evaluation.
 *
 * @param index       0 for the first
 * @param sigma       noise level of the video before it
 * @param audioSigma  noise level of the sound before it
 * @param seconds     wall-clock time, model and scheduler step
 * @param usefulFlops by {@link UsefulWork}
 */
public record StepTime(int index, float sigma, float audioSigma, double seconds, double usefulFlops) {
}

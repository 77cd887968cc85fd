package io.kinema.model.audio;

import io.kinema.compute.Tensor;

/**
 * What a waveform encodes to. H3 conditions on the mean and never samples.
 *
 * @param mean posterior mean, FP32 [B, latent channels, latents]
 * @param logs logarithm of the posterior's standard deviation (not of its variance), same shape
 */
public record AudioPosterior(Tensor mean, Tensor logs) {
}
